"""OAUTHBEARER as the broker does it: with what validates the tokens of a listener."""

import logging

from moldau.broker.login.identity import Identity, LoginExchange
from moldau.security.oauthbearer import OauthbearerServer, Validate

_log = logging.getLogger(__name__)


class OauthbearerMechanism:
    """OAUTHBEARER on one listener."""

    name = "OAUTHBEARER"

    def __init__(self, validate: Validate, *, reauthentication_ms: int = 0) -> None:
        self.reauthentication_ms = reauthentication_ms
        self._validate = validate

    def begin(self) -> LoginExchange:
        return _Exchange(OauthbearerServer(self._validate))


class _Exchange:
    def __init__(self, server: OauthbearerServer) -> None:
        self.identity: Identity | None = None
        self.shows_reasons = True
        self._server = server

    async def answer(self, token: bytes) -> bytes:
        try:
            answer = self._server.answer(token)
        finally:
            self.shows_reasons = self._server.shows_reasons
        found = self._server.identity
        if found is None:
            _log.debug("a bearer token is not valid: %s", self._server.reason)
        else:
            self.identity = Identity(found.user, expires_at_ms=found.expires_at_ms)
        return answer
