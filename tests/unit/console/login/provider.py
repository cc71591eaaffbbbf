"""An identity provider of tests, on the loopback address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from moldau.web.server import Binding, serving
from unit.security.web_signing import RsaIssuer, keys_of, token_of

CLIENT = "console"
FAR_S = 4_000_000_000


@dataclass
class ScriptedProvider:
    """Gives a token for a code; tests change what is in it."""

    key: RsaIssuer
    signing: RsaIssuer
    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    authorization: str = ""
    nonce: str = ""

    def follow(self, location: str) -> dict[str, str]:
        """What a browser brings to the provider; the nonce is kept for the token."""
        query = {name: each[0] for name, each in parse_qs(urlsplit(location).query).items()}
        self.nonce = query["nonce"]
        return query

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        await (await self._answer(request))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        path = request.url.path
        if path == "/authorize":  # where somebody would give a password
            query = self.follow(str(request.url))
            back = urlencode({"state": query["state"], "code": "x"})
            return RedirectResponse(f"{query['redirect_uri']}?{back}", 302)
        if path == "/.well-known/openid-configuration":
            found = {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
            }
            return JSONResponse({**found, **self.document})
        if path == "/keys":
            return Response(keys_of(self.key), media_type="application/json")
        if path == "/token":
            body = parse_qs((await request.body()).decode())
            self.asked.append({name: each[0] for name, each in body.items()})
            self.authorization = request.headers.get("authorization", "")
            return JSONResponse({"id_token": self._token(), "access_token": "unused"})
        return Response(b"", 404)

    def _token(self) -> str:
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "1234",
            "preferred_username": "anna",
            "groups": ["ops", "admin"],
            "exp": FAR_S,
            "nonce": self.nonce,
            **self.claims,
        }
        return token_of(self.signing, {k: v for k, v in claims.items() if v is not None})


KEY = RsaIssuer("first")


@asynccontextmanager
async def provider() -> AsyncIterator[ScriptedProvider]:
    """One that signs with the key that it shows."""
    scripted = ScriptedProvider(KEY, KEY)
    async with serving(scripted, Binding(0)) as url:
        scripted.url = url
        yield scripted
