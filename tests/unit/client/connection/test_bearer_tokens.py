"""Where bearer tokens come from."""

import base64
import http.server
import threading
from collections.abc import Iterator
from urllib.parse import parse_qs

import pytest

from moldau.client.connection.bearer_tokens import token_provider
from moldau.client.security_settings import SecuritySettings
from moldau.errors import InvalidConfig, SaslAuthenticationFailed


async def token(settings: SecuritySettings) -> str:
    return await token_provider(settings, timeout_s=5)()


async def test_a_token_can_be_given() -> None:
    assert await token(SecuritySettings(sasl_oauthbearer_token="t")) == "t"


async def test_a_function_can_make_tokens() -> None:
    async def make() -> str:
        return "awaited"

    for function, expected in ((make, "awaited"), (lambda: "plain", "plain")):
        settings = SecuritySettings(sasl_oauthbearer_token_provider=function)
        assert await token(settings) == expected
    with pytest.raises(TypeError, match="must return a text, not int"):
        await token(SecuritySettings(sasl_oauthbearer_token_provider=lambda: 7))


class Endpoint(http.server.BaseHTTPRequestHandler):
    """Gives tokens to whoever has the right credentials."""

    bodies: list[dict[str, list[str]]]

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self.bodies.append(parse_qs(self.rfile.read(size).decode()))
        right = base64.b64encode(b"me:secret").decode()
        is_right = self.headers["Authorization"] == f"Basic {right}"
        self.send_response(200 if is_right else 401)
        self.end_headers()
        self.wfile.write(b'{"access_token": "fetched"}' if self.path == "/token" else b"{}")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    Endpoint.bodies = []
    with http.server.HTTPServer(("127.0.0.1", 0), Endpoint) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/token"
        server.shutdown()
        thread.join()


async def test_tokens_are_fetched_with_credentials(endpoint: str) -> None:
    settings = SecuritySettings(
        sasl_oauthbearer_token_endpoint_url=endpoint,
        sasl_jaas_config='x.Y required clientId="me" clientSecret="secret" scope="all";',
    )
    assert await token(settings) == "fetched"
    assert Endpoint.bodies == [{"grant_type": ["client_credentials"], "scope": ["all"]}]


@pytest.mark.parametrize(
    ("secret", "path", "reason"),
    [("wrong", "token", "401"), ("secret", "nothing", "without an access_token")],
)
async def test_an_endpoint_that_gives_none_is_named(
    endpoint: str, secret: str, path: str, reason: str
) -> None:
    settings = SecuritySettings(
        sasl_oauthbearer_token_endpoint_url=endpoint.replace("token", path),
        sasl_oauthbearer_client_credentials_client_id="me",
        sasl_oauthbearer_client_credentials_client_secret=secret,
    )
    with pytest.raises(SaslAuthenticationFailed, match=reason):
        await token(settings)


@pytest.mark.parametrize(
    ("url", "reason"), [("ftp://x", "an address with https"), ("https://x", r"client\.id")]
)
def test_what_is_missing_is_said(url: str, reason: str) -> None:
    settings = SecuritySettings(sasl_oauthbearer_token_endpoint_url=url)
    with pytest.raises(InvalidConfig, match=reason):
        token_provider(settings, timeout_s=1)
