"""Settings that say how a client is protected: TLS, SASL, both or neither."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from moldau.config.values import invalid

if TYPE_CHECKING:
    from moldau.security.tls import TlsSettings

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PLAIN = "PLAIN"
OAUTHBEARER = "OAUTHBEARER"
SASL_MECHANISMS = (PLAIN, "SCRAM-SHA-256", "SCRAM-SHA-512", OAUTHBEARER)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuritySettings:
    """What every client has, too; `sasl.jaas.config` may say what other settings say."""

    security_protocol: str = "PLAINTEXT"
    sasl_mechanism: str = ""
    sasl_username: str = ""
    sasl_password: str = field(default="", repr=False)
    sasl_tokenauth: bool = False
    """Whether user and password are those of a delegation token."""
    sasl_jaas_config: str = field(default="", repr=False)
    sasl_oauthbearer_token: str = field(default="", repr=False)
    sasl_oauthbearer_token_provider: Callable[[], object] | None = None
    """Called for a token with each connection; may be a coroutine function."""
    sasl_oauthbearer_token_endpoint_url: str = ""
    sasl_oauthbearer_client_credentials_client_id: str = ""
    sasl_oauthbearer_client_credentials_client_secret: str = field(default="", repr=False)
    sasl_oauthbearer_scope: str = ""
    sasl_oauthbearer_extensions: Mapping[str, str] | None = None
    ssl_truststore_location: str = ""
    ssl_truststore_password: str = field(default="", repr=False)
    ssl_truststore_type: str = ""
    ssl_truststore_certificates: str = ""
    ssl_keystore_location: str = ""
    ssl_keystore_password: str = field(default="", repr=False)
    ssl_keystore_type: str = ""
    ssl_keystore_key: str = field(default="", repr=False)
    ssl_keystore_certificate_chain: str = ""
    ssl_key_password: str = field(default="", repr=False)
    ssl_endpoint_identification_algorithm: str = "https"
    ssl_enabled_protocols: str = "TLSv1.2,TLSv1.3"
    ssl_cipher_suites: str = ""

    @property
    def uses_tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.security_protocol.upper().endswith("SSL")

    @property
    def uses_sasl(self) -> bool:
        """Whether the client authenticates by SASL."""
        return self.security_protocol.upper().startswith("SASL")

    @property
    def tls(self) -> "TlsSettings":
        """What is about TLS."""
        from moldau.security.tls import TlsSettings  # noqa: PLC0415 - most clients need none

        values: dict[str, str] = {
            each.name: getattr(self, f"ssl_{each.name}") for each in fields(TlsSettings)
        }
        return TlsSettings(**values)

    @property
    def login(self) -> dict[str, str]:
        """What a login needs, by the names of login modules; settings of their own win."""
        from moldau.security.jaas import read_jaas_config  # noqa: PLC0415 - most need none

        options = read_jaas_config(self.sasl_jaas_config) if self.sasl_jaas_config else {}
        own = {
            "username": self.sasl_username,
            "password": self.sasl_password,
            "clientId": self.sasl_oauthbearer_client_credentials_client_id,
            "clientSecret": self.sasl_oauthbearer_client_credentials_client_secret,
            "scope": self.sasl_oauthbearer_scope,
            "tokenauth": "true" if self.sasl_tokenauth else "",
        }
        return {**options, **{name: value for name, value in own.items() if value}}

    def check_security(self) -> None:
        """Raise InvalidConfig for what does not go together."""
        if self.security_protocol.upper() not in PROTOCOLS:
            allowed = f"one of {', '.join(PROTOCOLS)}"
            raise invalid("security.protocol", self.security_protocol, allowed)
        if not self.uses_sasl:
            return
        mechanism = self.sasl_mechanism.upper()
        if mechanism not in SASL_MECHANISMS:
            allowed = f"one of {', '.join(SASL_MECHANISMS)}"
            raise invalid("sasl.mechanism", self.sasl_mechanism, allowed)
        login = self.login
        if mechanism != OAUTHBEARER and not ("username" in login and "password" in login):
            allowed = f"set, and sasl.password too: {mechanism} needs them"
            raise invalid("sasl.username", "(empty)", allowed)
        if mechanism == OAUTHBEARER and not self._has_token:
            allowed = "a token, or set sasl.oauthbearer.token.provider or .token.endpoint.url"
            raise invalid("sasl.oauthbearer.token", "(empty)", allowed)

    @property
    def _has_token(self) -> bool:
        return bool(
            self.sasl_oauthbearer_token
            or self.sasl_oauthbearer_token_provider
            or self.sasl_oauthbearer_token_endpoint_url
        )
