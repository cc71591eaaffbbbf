"""An authority of one's own, brokers and clients that it certifies."""

import datetime as dt
import ssl

import pytest
from cryptography import x509

from moldau.security.certificate_authority import CertificateAuthority, Certified
from moldau.security.distinguished_names import subject_name
from moldau.security.tls import TlsSettings, client_context, server_context

NOW = dt.datetime.now(dt.UTC)


@pytest.fixture(scope="module")
def authority() -> CertificateAuthority:
    return CertificateAuthority.create("ca", now=NOW, days=30)


def handshake(authority: CertificateAuthority, broker: Certified, client: Certified) -> str:
    """Whom the broker takes the client for."""

    def settings(own: Certified) -> TlsSettings:
        return TlsSettings(
            keystore_key=own.key,
            keystore_certificate_chain=own.certificate,
            truststore_certificates=authority.own.certificate,
        )

    to_broker, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = server_context(settings(broker), client_auth="required").wrap_bio(
        to_broker, to_client, server_side=True
    )
    caller = client_context(settings(client)).wrap_bio(
        to_client, to_broker, server_hostname="kafka.example"
    )
    waiting = [caller, server]
    for _ in range(6):
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                pass
    assert not waiting
    return subject_name(server.getpeercert(binary_form=True) or b"")


def test_broker_and_client_know_each_other(authority: CertificateAuthority) -> None:
    broker = authority.certify("b", ["kafka.example", "10.0.0.1", "::1"], now=NOW, days=1)
    assert handshake(authority, broker, authority.certify("anna", now=NOW, days=1)) == "CN=anna"


def test_a_broker_may_call_others_but_a_client_may_not_be_one(
    authority: CertificateAuthority,
) -> None:
    broker = authority.certify("b", ["kafka.example"], now=NOW, days=1)
    client = authority.certify("kafka.example", now=NOW, days=1)
    assert handshake(authority, broker, broker) == "CN=b"
    with pytest.raises(ssl.SSLError):
        handshake(authority, client, broker)


def test_nobody_is_certified_beyond_the_end_of_the_authority(
    authority: CertificateAuthority,
) -> None:
    long = authority.certify("anna", now=NOW, days=1000)
    end = x509.load_pem_x509_certificate(long.certificate.encode()).not_valid_after_utc
    assert end == authority.valid_until


def test_an_authority_is_loaded_with_its_own_key_alone(authority: CertificateAuthority) -> None:
    again = CertificateAuthority.load(authority.own)
    assert again.valid_until == authority.valid_until
    other = CertificateAuthority.create("other", now=NOW, days=1)
    with pytest.raises(ValueError, match="do not belong together"):
        CertificateAuthority.load(Certified(other.own.key, authority.own.certificate))


def test_a_name_has_as_many_characters_as_a_certificate_can_have(
    authority: CertificateAuthority,
) -> None:
    for name in ("", "x" * 65):
        with pytest.raises(ValueError, match="characters"):
            authority.certify(name, now=NOW, days=1)


def test_a_key_is_not_shown(authority: CertificateAuthority) -> None:
    assert "PRIVATE" not in repr(authority.own)
