"""Settings of TLS listeners."""

from moldau.config.definition import (
    Area,
    Importance,
    UpdateMode,
    boolean,
    class_name,
    listing,
    password,
    string,
)
from moldau.config.rules import one_of
from moldau.config.values import Password


class TlsConfig(Area):
    """Keys, trust and protocol versions.

    `listener.name.<name>.` before a name sets it for that listener alone.
    """

    ssl_keystore_location: str | None = string(
        None, "File with the broker's key and certificate.", update=UpdateMode.PER_BROKER
    )
    ssl_keystore_password: Password | None = password(
        "Password of that file.", update=UpdateMode.PER_BROKER
    )
    ssl_keystore_type: str = string(
        "JKS", "Kind of that file: JKS, PKCS12 or PEM.", update=UpdateMode.PER_BROKER
    )
    ssl_keystore_key: Password | None = password(
        "Private key itself, in PEM.", update=UpdateMode.PER_BROKER
    )
    ssl_keystore_certificate_chain: Password | None = password(
        "Certificate chain itself, in PEM.", update=UpdateMode.PER_BROKER
    )
    ssl_key_password: Password | None = password(
        "Password of the private key.", update=UpdateMode.PER_BROKER
    )
    ssl_truststore_location: str | None = string(
        None, "File with the certificates to trust.", update=UpdateMode.PER_BROKER
    )
    ssl_truststore_password: Password | None = password(
        "Password of that file.", update=UpdateMode.PER_BROKER
    )
    ssl_truststore_type: str = string(
        "JKS", "Kind of that file: JKS, PKCS12 or PEM.", update=UpdateMode.PER_BROKER
    )
    ssl_truststore_certificates: Password | None = password(
        "Trusted certificates themselves, in PEM.", update=UpdateMode.PER_BROKER
    )
    ssl_client_auth: str = string(
        "none",
        "Whether clients must show a certificate.",
        one_of("required", "requested", "none"),
        update=UpdateMode.PER_BROKER,
    )
    ssl_enabled_protocols: tuple[str, ...] = listing(
        (
            "TLSv1.2",
            "TLSv1.3",
        ),
        "TLS versions to allow.",
        update=UpdateMode.PER_BROKER,
    )
    ssl_protocol: str = string(
        "TLSv1.3", "TLS version to offer first.", update=UpdateMode.PER_BROKER
    )
    ssl_cipher_suites: tuple[str, ...] = listing(
        (), "Cipher suites to allow; empty is OpenSSL's choice.", update=UpdateMode.PER_BROKER
    )
    ssl_endpoint_identification_algorithm: str = string(
        "https",
        "`https` checks the server's host name on outgoing connections, empty does not.",
        importance=Importance.LOW,
        update=UpdateMode.PER_BROKER,
    )
    ssl_principal_mapping_rules: str = string(
        "DEFAULT",
        "Rules that make a user name from a certificate's subject.",
        importance=Importance.LOW,
    )
    ssl_allow_dn_changes: bool = boolean(
        False,
        "Whether a new certificate may have another subject while the broker runs.",
        importance=Importance.LOW,
    )
    ssl_allow_san_changes: bool = boolean(
        False,
        "Whether a new certificate may lack alternative names while the broker runs.",
        importance=Importance.LOW,
    )
    ssl_engine_factory_class: str | None = class_name(
        None,
        "Java class that makes TLS engines; without effect.",
        importance=Importance.LOW,
        update=UpdateMode.PER_BROKER,
    )
    ssl_keymanager_algorithm: str = string(
        "SunX509", "Java key manager; without effect.", update=UpdateMode.PER_BROKER
    )
    ssl_trustmanager_algorithm: str = string(
        "PKIX", "Java trust manager; without effect.", update=UpdateMode.PER_BROKER
    )
    ssl_provider: str | None = string(
        None, "Java security provider; without effect.", update=UpdateMode.PER_BROKER
    )
    ssl_secure_random_implementation: str | None = string(
        None,
        "Java random generator; without effect.",
        importance=Importance.LOW,
        update=UpdateMode.PER_BROKER,
    )
