"""Authenticates the client to a broker, over a connection that is open (SASL, KIP-152)."""

from typing import TYPE_CHECKING

from moldau.client.beside import call_beside
from moldau.client.connection.connection import BrokerConnection
from moldau.client.connection.login_session import LoginSession
from moldau.client.connection.versions import BrokerVersions
from moldau.client.security_settings import OAUTHBEARER
from moldau.client.settings import ClientSettings
from moldau.errors import ErrorCode, KafkaError, NetworkException
from moldau.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from moldau.protocol.messages.sasl_handshake import (
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from moldau.security.client_login import begin_by_password
from moldau.security.exchange import ClientExchange, refused
from moldau.security.oauthbearer import OauthbearerClient, reason_of

if TYPE_CHECKING:
    from moldau.client.connection.bearer_tokens import Provider

_HANDSHAKE = 17
_SINCE_AUTHENTICATE = 1
_AUTHENTICATE = 36
_RENEWAL = 0.85  # of the time that the broker gives, as Java's clients do (KIP-368)


class Authentication:
    """Authenticates connections, each of them when it is opened and when its session ends."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._mechanism = settings.sasl_mechanism.upper()
        self._timeout_s = settings.request_timeout_ms / 1000
        self._token: Provider | None = None
        if self._mechanism == OAUTHBEARER:
            # Only now: it brings along much that others do not need.
            from moldau.client.connection.bearer_tokens import token_provider  # noqa: PLC0415

            self._token = token_provider(settings, timeout_s=self._timeout_s)

    async def perform(
        self, connection: BrokerConnection, versions: BrokerVersions, *, now_ms: int
    ) -> LoginSession:
        """Authenticate; SaslAuthenticationFailed says why not. Nothing else is sent meanwhile."""
        exchange = await self._exchange()
        async with connection.alone():
            await self._agree(connection, versions)
            if versions.newest(_HANDSHAKE) < _SINCE_AUTHENTICATE:
                lifetime_ms = await self._converse_in_tokens(connection, exchange)
            else:
                lifetime_ms = await self._converse(connection, versions, exchange)
            if not exchange.is_complete:
                raise refused(f"{connection.name} did not finish the exchange")
        return LoginSession(now_ms + int(lifetime_ms * _RENEWAL) if lifetime_ms > 0 else None)

    async def _exchange(self) -> ClientExchange:
        if self._token is not None:
            return OauthbearerClient(
                await self._token(), self._settings.sasl_oauthbearer_extensions
            )
        return begin_by_password(self._mechanism, self._settings.login)

    async def _agree(self, connection: BrokerConnection, versions: BrokerVersions) -> None:
        version = versions.newest(_HANDSHAKE)
        request = SaslHandshakeRequest(mechanism=self._mechanism)
        frame = await connection.exchange(
            request, version, timeout_s=self._timeout_s, is_alone=True
        )
        answer = frame.decode(SaslHandshakeResponse, version)
        if answer.error_code:
            offered = ", ".join(answer.mechanisms) or "nothing"
            reason = f"{connection.name} offers {offered}, not {self._mechanism}"
            raise KafkaError(ErrorCode(answer.error_code), reason)

    async def _converse(
        self, connection: BrokerConnection, versions: BrokerVersions, exchange: ClientExchange
    ) -> int:
        version = versions.newest(_AUTHENTICATE)
        token: bytes | None = exchange.begin()
        refusal = ""
        lifetime_ms = 0
        while token is not None:
            frame = await connection.exchange(
                SaslAuthenticateRequest(auth_bytes=token),
                version,
                timeout_s=self._timeout_s,
                is_alone=True,
            )
            answer = frame.decode(SaslAuthenticateResponse, version)
            if answer.error_code:
                said = answer.error_message or ErrorCode(answer.error_code).name
                raise KafkaError(
                    ErrorCode(answer.error_code), f"{connection.name}: {said}{refusal}"
                )
            if isinstance(exchange, OauthbearerClient) and answer.auth_bytes:
                refusal = f" ({reason_of(answer.auth_bytes)})"
            lifetime_ms = answer.session_lifetime_ms
            token = await call_beside(exchange.answer, answer.auth_bytes)
        return lifetime_ms

    async def _converse_in_tokens(
        self, connection: BrokerConnection, exchange: ClientExchange
    ) -> int:
        """As brokers before 1.0 want it; they close the connection of a client they refuse."""
        token: bytes | None = exchange.begin()
        while token is not None:
            try:
                said = await connection.exchange_token(token, timeout_s=self._timeout_s)
            except NetworkException as error:
                raise refused(f"{connection.name} hung up: is the password right?") from error
            token = await call_beside(exchange.answer, said)
        return 0
