"""The pages of a login: to the identity provider, back from it, and out."""

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from moldau.web.errors import WebError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from moldau.console.login.oidc import OidcProvider
    from moldau.console.login.sessions import BrowserLogins

LOGIN, LOGOUT = "/oidc/login", "/oidc/logout"
_OWN = ("/api/", "/static/")
_COOKIE = "moldau-login"
_COOKIE_S = 600
_FOUND, _MISDIRECTED, _NO_METHOD = 302, 421, 405


class LoginPages:
    """Stands before a console whose users log in elsewhere."""

    def __init__(self, app: "ASGIApp", provider: "OidcProvider", sessions: "BrowserLogins") -> None:
        self._app = app
        self._provider = provider
        self._sessions = sessions
        url = provider.options.url
        self._host = url.partition("://")[2].partition("/")[0].lower()
        self._secure = "; Secure" if url.startswith("https:") else ""

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request, or let the console do it."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except WebError as error:
            answer = _page(error.message, error.status)
        await (self._app if answer is None else answer)(scope, receive, send)

    async def _answer(self, request: Request) -> Response | None:
        path = request.url.path
        if path.startswith("/oidc/"):
            if request.headers.get("host", "").lower() != self._host:
                raise WebError(_MISDIRECTED, f"this console is at {self._host}")
            return await self._login_page(request, path)
        is_page = request.method == "GET" and not path.startswith(_OWN)
        if is_page and not self._is_known(request):
            target = quote(path + (f"?{request.url.query}" if request.url.query else ""), safe="")
            return RedirectResponse(f"{LOGIN}?to={target}", _FOUND)
        return None

    def _is_known(self, request: Request) -> bool:
        return "authorization" in request.headers or self._sessions.recognise(request) is not None

    async def _login_page(self, request: Request, path: str) -> Response:
        if path == LOGOUT and request.method == "POST":
            return self._logged_out(request)
        if request.method != "GET" or path == LOGOUT:
            raise WebError(_NO_METHOD, "a login begins with GET, and ends with POST")
        if path == LOGIN:
            url, mark = await self._provider.begin(request.query_params.get("to", "/"))
            answer: Response = RedirectResponse(url, _FOUND)
            # Lax, since the way back comes from another site.
            answer.headers["Set-Cookie"] = self._mark(mark, _COOKIE_S)
            return answer
        if path == "/oidc/callback":
            return await self._came_back(request)
        raise WebError(404, "there is no such page")

    async def _came_back(self, request: Request) -> Response:
        given = request.query_params
        if "error" in given:
            about = given.get("error_description") or given["error"]
            raise WebError(403, f"the identity provider refused: {about[:500]}")
        user, claims, target = await self._provider.finish(
            given.get("state", ""), given.get("code", ""), request.cookies.get(_COOKIE, "")
        )
        # A redirect would still count as coming from the other site, and have no strict cookie.
        answer = _page(f"Logged in as {user.name}.", 200, target)
        answer.headers.append("Set-Cookie", self._sessions.begin(user, claims))
        answer.headers.append("Set-Cookie", self._mark("", 0))
        return answer

    def _logged_out(self, request: Request) -> Response:
        origin = request.headers.get("origin", "")
        if origin and origin.partition("://")[2].lower() != self._host:
            raise WebError(403, f"pages of {origin[:200]} may not log you out")
        answer = JSONResponse({"logged_out": True})
        answer.headers["Set-Cookie"] = self._sessions.end(request)
        return answer

    def _mark(self, value: str, age_s: int) -> str:
        flags = f"Max-Age={age_s}; HttpOnly; SameSite=Lax{self._secure}"
        return f"{_COOKIE}={value}; Path=/oidc/; {flags}"


def _page(text: str, status: int, target: str = "") -> Response:
    refresh = f'<meta http-equiv="refresh" content="0;url={escape(target)}">' if target else ""
    link = f'<a href="{escape(target or LOGIN)}">{"Go on" if target else "Log in again"}</a>'
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{refresh}'
        "<title>Moldau console</title></head>"
        f"<body><h1>Moldau console</h1><p>{escape(text)}</p><p>{link}</p></body></html>"
    )
    return Response(page, status, media_type="text/html; charset=utf-8")
