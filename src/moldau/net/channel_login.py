"""A broker's login to another one: the first words on a connection (KIP-43, KIP-368)."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest
from moldau.runtime.threads import in_thread
from moldau.security.exchange import ClientExchange, refused

Ask = Callable[[object, int], Awaitable[Any]]
"""Sends a request in a version; the answer."""
BeginLogin = Callable[[], Awaitable[ClientExchange]]

# Every broker that can be in one cluster with this one knows both.
_IN_MESSAGES = 1
_WITH_LIFETIME = 1
_RENEWAL = 0.85
"""Of the time that a login holds, after which it is renewed, as Java's clients do."""


class ChannelLogin:
    """How this broker says who it is."""

    def __init__(self, begin: BeginLogin) -> None:
        self._begin = begin

    async def perform(self, ask: Ask) -> float | None:
        """Log in; in how many seconds to do it again, None for never.

        KafkaError if the other broker does not let this one in.
        """
        exchange = await self._begin()
        answer = await ask(SaslHandshakeRequest(mechanism=exchange.mechanism), _IN_MESSAGES)
        _require(answer.error_code, f"it offers {', '.join(answer.mechanisms)}")
        token: bytes | None = exchange.begin()
        lifetime_ms = 0
        while token is not None:
            answer = await ask(SaslAuthenticateRequest(auth_bytes=token), _WITH_LIFETIME)
            _require(answer.error_code, answer.error_message or "")
            lifetime_ms = answer.session_lifetime_ms
            # In a thread, since SCRAM takes milliseconds.
            token = await in_thread(partial(exchange.answer, bytes(answer.auth_bytes)))
        if not exchange.is_complete:
            raise refused("it did not finish the exchange")
        return _RENEWAL * lifetime_ms / 1000 if lifetime_ms > 0 else None


def _require(code: int, reason: str) -> None:
    if code:
        raise KafkaError(ErrorCode(code), f"login refused: {reason}")
