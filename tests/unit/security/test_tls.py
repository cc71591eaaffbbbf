"""TLS by Kafka's settings."""

import ssl
from pathlib import Path

import pytest

from certificates import authority, identity
from moldau.errors import InvalidConfig
from moldau.security.tls import TlsSettings, client_context

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
            TlsSettings(keystore_key=ANNA.key_pem("x"), key_password="y"),
            "private key or its certificates",
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
