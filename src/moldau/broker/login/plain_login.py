"""PLAIN as the broker does it: with the users that the settings name."""

from collections.abc import Mapping

from moldau.broker.login.identity import Identity, LoginExchange
from moldau.security.plain import PlainServer


class PlainMechanism:
    """PLAIN on one listener."""

    name = "PLAIN"

    def __init__(self, passwords: Mapping[str, str], *, reauthentication_ms: int = 0) -> None:
        self.reauthentication_ms = reauthentication_ms
        self._passwords = passwords

    def begin(self) -> LoginExchange:
        return _Exchange(PlainServer(self._passwords.get))


class _Exchange:
    shows_reasons = True

    def __init__(self, server: PlainServer) -> None:
        self.identity: Identity | None = None
        self._server = server

    async def answer(self, token: bytes) -> bytes:
        answer = self._server.answer(token)
        assert self._server.user is not None, "one token is all"
        self.identity = Identity(self._server.user)
        return answer
