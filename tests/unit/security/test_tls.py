"""TLS by Kafka's settings."""

import ssl
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from certificates import authority, identity
from moldau.errors import InvalidConfig
from moldau.security.cipher_suites import TLS_1_2, TLS_1_3
from moldau.security.tls import TlsSettings, client_context, server_context

CA = authority()
ANNA = identity(CA, "anna")


def test_by_default_the_system_is_trusted_and_names_are_checked() -> None:
    context = client_context(TlsSettings())
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_names_need_not_be_checked_but_certificates_are() -> None:
    context = client_context(TlsSettings(endpoint_identification_algorithm=""))
    assert not context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED


def test_trust_comes_from_a_file_or_a_text(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_text(CA.certificate_pem)
    for settings in (
        TlsSettings(truststore_location=str(path)),
        TlsSettings(truststore_certificates=CA.certificate_pem),
    ):
        (trusted,) = client_context(settings).get_ca_certs()
        assert (("commonName", "Moldau tests"),) in trusted["subject"]


def test_one_s_own_key_comes_from_a_file_or_a_text(tmp_path: Path) -> None:
    for settings in (
        TlsSettings(keystore_location=ANNA.write(tmp_path / "anna.pem")),
        TlsSettings(
            keystore_location=ANNA.write(tmp_path / "locked.pem", "sesam"), key_password="sesam"
        ),
        TlsSettings(
            keystore_key=ANNA.key_pem("sesam"),
            keystore_certificate_chain=ANNA.certificate_pem,
            key_password="sesam",
        ),
        TlsSettings(
            keystore_location=ANNA.write_pkcs12(tmp_path / "anna.p12", "sesam"),
            keystore_password="sesam",
        ),
    ):
        client_context(settings)
    assert "sesam" not in repr(settings)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (TlsSettings(enabled_protocols="SSLv3"), r"ssl\.enabled\.protocols"),
        (TlsSettings(cipher_suites="ROT13"), r"ssl\.cipher\.suites"),
        (TlsSettings(truststore_certificates="nothing"), "no certificates"),
        (
            TlsSettings(
                keystore_key=ANNA.key_pem("x"),
                keystore_certificate_chain=ANNA.certificate_pem,
                key_password="y",
            ),
            "private key or its certificates",
        ),
        (TlsSettings(keystore_key="a key"), r"ssl\.keystore\.certificate\.chain"),
        (TlsSettings(keystore_certificate_chain="a chain"), r"needs ssl\.keystore\.key"),
        (
            TlsSettings(keystore_key="a", keystore_location="b"),
            r"ssl\.keystore\.location and ssl\.keystore\.key exclude",
        ),
        (
            TlsSettings(truststore_certificates="a", truststore_location="b"),
            r"ssl\.truststore\.location and ssl\.truststore\.certificates exclude",
        ),
    ],
)
def test_what_is_wrong_is_said(settings: TlsSettings, reason: str) -> None:
    with pytest.raises(InvalidConfig, match=reason):
        client_context(settings)


def test_a_store_without_a_key_says_nothing_about_oneself(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_text(CA.certificate_pem)
    with pytest.raises(InvalidConfig, match="has no private key"):
        client_context(TlsSettings(keystore_location=str(path)))


def test_versions_and_ciphers_can_be_limited() -> None:
    context = client_context(
        TlsSettings(enabled_protocols="TLSv1.2", cipher_suites="ECDHE-RSA-AES128-GCM-SHA256")
    )
    assert context.maximum_version is ssl.TLSVersion.TLSv1_2


ECDHE = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
NEW = ",".join(TLS_1_3)


@pytest.mark.parametrize(
    ("suites", "versions"),
    [
        ("", ("TLSv1_2", "TLSv1_3")),
        (ECDHE, ("TLSv1_2", "TLSv1_2")),
        (NEW, ("TLSv1_3", "TLSv1_3")),
        (f"{NEW},{ECDHE}", ("TLSv1_2", "TLSv1_3")),
    ],
)
def test_a_version_without_a_suite_is_not_spoken(suites: str, versions: tuple[str, str]) -> None:
    context = client_context(TlsSettings(cipher_suites=suites))
    assert (context.minimum_version.name, context.maximum_version.name) == versions
    if ECDHE in suites:
        old = [one["name"] for one in context.get_ciphers() if one["name"] not in TLS_1_3]
        assert old == [TLS_1_2[ECDHE]]


@pytest.mark.parametrize(
    ("suites", "protocols", "reason"),
    [
        (TLS_1_3[0], "TLSv1.2,TLSv1.3", "cannot choose among those of TLS 1.3: name all of"),
        (f"{ECDHE},TLS_RSA_WITH_NULL_SHA256", "TLSv1.2", "does not offer TLS_RSA_WITH_NULL"),
        (NEW, "TLSv1.2", "there is none for ssl"),
    ],
)
def test_suites_that_cannot_be_honoured_are_refused(
    suites: str, protocols: str, reason: str
) -> None:
    if hasattr(ssl.SSLContext, "set_ciphersuites") and "choose" in reason:
        pytest.skip("this version of Python can")
    with pytest.raises(InvalidConfig, match=reason):
        client_context(TlsSettings(cipher_suites=suites, enabled_protocols=protocols))


def own() -> TlsSettings:
    return TlsSettings(
        keystore_key=ANNA.key_pem(),
        keystore_certificate_chain=ANNA.certificate_pem,
        truststore_certificates=CA.certificate_pem,
    )


def test_a_server_neither_renegotiates_nor_sends_tickets() -> None:
    context = server_context(own())
    assert context.options & ssl.OP_NO_RENEGOTIATION
    assert context.options & ssl.OP_NO_COMPRESSION
    assert context.num_tickets == 0
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def shaken(
    server: ssl.SSLContext, client: ssl.SSLContext, session: ssl.SSLSession | None = None
) -> tuple[ssl.SSLObject, ssl.SSLObject]:
    """Both ends after a handshake."""
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    theirs = client.wrap_bio(down, up, server_hostname="localhost", session=session)
    ours = server.wrap_bio(up, down, server_side=True)
    for _ in range(3):
        for end in (theirs, ours):
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
    return ours, theirs


def test_a_session_of_tls_1_2_is_resumed_with_the_certificate_that_it_began_with() -> None:
    trusting = own()
    server = server_context(trusting, client_auth="required")
    client = client_context(replace(trusting, enabled_protocols="TLSv1.2"))
    ours, theirs = shaken(server, client)
    shown = ours.getpeercert(binary_form=True)
    assert shown == ssl.PEM_cert_to_DER_cert(ANNA.certificate_pem)
    again, reused = shaken(server, client, theirs.session)
    assert reused.session_reused
    assert again.getpeercert(binary_form=True) == shown
    # With other keys, or another trust store, everything is looked at anew.
    renewed, anew = shaken(server_context(trusting, client_auth="required"), client, reused.session)
    assert not anew.session_reused
    assert renewed.getpeercert(binary_form=True) == shown


@pytest.mark.parametrize(
    ("word", "mode"),
    [
        ("none", ssl.CERT_NONE),
        ("requested", ssl.CERT_OPTIONAL),
        ("required", ssl.CERT_REQUIRED),
    ],
)
def test_a_server_asks_for_certificates_as_it_is_told(word: str, mode: ssl.VerifyMode) -> None:
    assert server_context(own(), client_auth=word).verify_mode is mode


def test_a_server_needs_a_key() -> None:
    with pytest.raises(InvalidConfig, match=r"set ssl\.keystore\.location"):
        server_context(TlsSettings())


def test_whatever_is_in_a_trust_store_is_trusted_without_its_issuer() -> None:
    context = client_context(TlsSettings(truststore_certificates=ANNA.certificate_pem))
    assert context.verify_flags & ssl.VERIFY_X509_PARTIAL_CHAIN


def test_without_files_in_memory_a_private_one_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.memfd_create", raising=False)
    server_context(own())
