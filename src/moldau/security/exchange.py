"""A SASL exchange as seen from either side: tokens in, tokens out, no sockets."""

from typing import Protocol

from moldau.errors import ErrorCode, KafkaError


class ClientExchange(Protocol):
    """Proves to a server who one is; `is_complete` once the server is known to agree."""

    mechanism: str
    is_complete: bool

    def begin(self) -> bytes:
        """The first token."""

    def answer(self, challenge: bytes) -> bytes | None:
        """The next token for what the server sent, or None if there is nothing more to say."""


class ServerExchange(Protocol):
    """Finds out who a client is; `user` is set once that is proved."""

    user: str | None

    def answer(self, token: bytes) -> bytes:
        """What the client is told; raises SaslAuthenticationFailed if it is not who it says."""


def refused(reason: str) -> KafkaError:
    """The exchange has failed."""
    return KafkaError(ErrorCode.SASL_AUTHENTICATION_FAILED, reason)
