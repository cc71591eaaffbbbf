"""What a login comes to, and what one is made of."""

from typing import NamedTuple, Protocol


class Identity(NamedTuple):
    """Whom a client has shown to be."""

    user: str
    is_by_token: bool = False
    """Whether by a delegation token: the user is then its owner."""
    expires_at_ms: int | None = None
    """When what it was shown by ends; None if that does not end."""


class LoginExchange(Protocol):
    """One client's exchange by one mechanism; `identity` is set once it has succeeded."""

    identity: Identity | None
    shows_reasons: bool
    """Whether the client gets the reason why it failed, or only that it did."""

    async def answer(self, token: bytes) -> bytes:
        """The token for the client; SaslAuthenticationFailed ends the exchange."""


class Mechanism(Protocol):
    """A way to log in that a listener offers."""

    name: str
    reauthentication_ms: int
    """How long a login holds (`connections.max.reauth.ms`); 0 for ever."""

    def begin(self) -> LoginExchange:
        """A client chose it."""
