"""Documents of identity providers."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import suppress
from urllib.request import Request

import pytest

from moldau.security.web_fetch import DOCUMENT_MAX_BYTES, FetchFailed, fetch


class Provider(http.server.BaseHTTPRequestHandler):
    """Answers by path."""

    def do_GET(self) -> None:
        match self.path:
            case "/elsewhere":
                self.send_response(302)
                self.send_header("Location", "/document")
                self.end_headers()
            case "/refused":
                self.send_response(500)
                self.end_headers()
                self.wfile.write(b"a secret of the server")
            case "/long":
                self.send_response(200)
                self.end_headers()
                with suppress(OSError):  # nobody reads all of it
                    self.wfile.write(b"x" * (DOCUMENT_MAX_BYTES + 1))
            case _:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"document")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def provider() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_document_is_read(provider: str) -> None:
    assert fetch(Request(f"{provider}/document"), timeout_s=5) == b"document"


@pytest.mark.parametrize(
    ("path", "reason"),
    [("elsewhere", "the answer is 302"), ("refused", "is 500"), ("long", "too long")],
)
def test_cve_2025_27817_nothing_else_is_and_what_was_said_is_not_repeated(
    provider: str, path: str, reason: str
) -> None:
    with pytest.raises(FetchFailed, match=reason) as caught:
        fetch(Request(f"{provider}/{path}"), timeout_s=5)
    assert "secret" not in str(caught.value)


def test_an_answer_that_takes_long_is_not_waited_for(provider: str) -> None:
    times = iter((0.0, 100.0))
    with pytest.raises(FetchFailed, match="in time"):
        fetch(Request(f"{provider}/document"), timeout_s=5, now_s=lambda: next(times))


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(FetchFailed, match="refused"):
        fetch(Request("http://127.0.0.1:1/x"), timeout_s=5)
