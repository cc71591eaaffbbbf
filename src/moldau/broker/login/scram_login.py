"""SCRAM as the broker does it: with the credentials of users and of delegation tokens."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from moldau.broker.login.identity import Identity, LoginExchange
from moldau.security.exchange import refused
from moldau.security.scram import Claim, ScramSecret, ScramServer


class Known(NamedTuple):
    """What is known of somebody who claims to be a user."""

    secret: ScramSecret
    """Also for one that is not there: no password fits it then."""
    identity: Identity


FindKnown = Callable[[str, Claim], Awaitable[Known]]
"""What is known of a claim by a mechanism."""


class ScramMechanism:
    """One of the two, on one listener."""

    def __init__(
        self,
        name: str,
        find: FindKnown,
        *,
        new_nonce: Callable[[], str],
        reauthentication_ms: int = 0,
    ) -> None:
        self.name = name
        self.reauthentication_ms = reauthentication_ms
        self._find = find
        self._new_nonce = new_nonce

    def begin(self) -> LoginExchange:
        return _Exchange(self.name, self._find, self._new_nonce())


class _Exchange:
    shows_reasons = False

    def __init__(self, mechanism: str, find: FindKnown, nonce: str) -> None:
        self.identity: Identity | None = None
        self._mechanism = mechanism
        self._find = find
        self._server = ScramServer(mechanism, nonce)
        self._known: Known | None = None

    async def answer(self, token: bytes) -> bytes:
        if self.identity is not None:
            raise refused("the exchange is over")
        if self._known is None:
            claim = self._server.read_claim(token)
            self._known = await self._find(self._mechanism, claim)
            return self._server.challenge(self._known.secret)
        proof = self._server.verify(token)
        self.identity = self._known.identity
        return proof
