"""A SASL exchange as seen from either side: tokens in, tokens out, no sockets."""

from typing import Protocol

from moldau.errors import ErrorCode, KafkaError


class ClientExchange(Protocol):
    """Authenticates to a server; `is_complete` once the server is known to agree."""

    mechanism: str
    is_complete: bool

    def begin(self) -> bytes:
        """The first token."""

    def answer(self, challenge: bytes) -> bytes | None:
        """The next token for what the server sent, or None if there is nothing more to say."""


def refused(reason: str) -> KafkaError:
    """The exchange has failed."""
    return KafkaError(ErrorCode.SASL_AUTHENTICATION_FAILED, reason)
