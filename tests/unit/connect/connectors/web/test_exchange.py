"""Requests are tried again if that may help, and never carry a login elsewhere."""

from collections.abc import Iterator

import pytest

from moldau.connect.connectors.web.exchange import (
    WebExchange,
    WebRefusal,
    checked_url,
    header_pairs,
    shown_url,
)
from moldau.connect.errors import ConfigError, RetriableConnectError
from unit.connect.connectors.web.servers import Said, Server, web_server


@pytest.fixture
def server() -> Iterator[Server]:
    with web_server() as running:
        yield running


@pytest.mark.parametrize("when", ["0", "Sun, 06 Nov 1994 08:49:37 GMT"])
def test_a_server_says_how_long_it_wants_to_be_left_alone(server: Server, when: str) -> None:
    answers = [Said(429, headers={"Retry-After": when}), Said(200, {"a": 1})]
    server.answer = lambda _: answers.pop(0)
    # With this back-off of its own it would not come back within the test.
    exchange = WebExchange({}, retries=1, back_off_s=3600, body_max_bytes=100)
    assert exchange.send(f"{server.url}/x", method="GET").body == b'{"a": 1}'


def test_what_is_no_time_does_not_count(server: Server) -> None:
    answers = [Said(503, headers={"Retry-After": "soon"}), Said(200)]
    server.answer = lambda _: answers.pop(0)
    WebExchange({}, retries=1, back_off_s=0).send(f"{server.url}/x", b"1")
    assert len(server.bodies) == 2


def test_a_redirect_to_another_server_or_of_a_post_is_not_followed(server: Server) -> None:
    with web_server() as other:
        server.answer = lambda _: Said(302, headers={"Location": f"{other.url}/there"})
        exchange = WebExchange({"Authorization": "Bearer secret"}, retries=0, body_max_bytes=9)
        with pytest.raises(WebRefusal, match="302"):
            exchange.send(f"{server.url}/x", method="GET")
        assert other.asked == []
    server.answer = lambda path: Said(200) if path == "/y" else Said(302, headers={"Location": "y"})
    with pytest.raises(WebRefusal, match="302"):
        exchange.send(f"{server.url}/x", b"1")
    exchange.send(f"{server.url}/x", method="GET")
    assert server.asked == ["/x", "/x", "/x", "/y"]
    server.answer = lambda _: Said(302, headers={"Location": "x"})
    with pytest.raises(WebRefusal, match="redirected 5 times"):
        exchange.send(f"{server.url}/x", method="GET")


def test_an_answer_that_is_too_long_is_refused(server: Server) -> None:
    server.answer = lambda _: Said(200, b"x" * 11)
    with pytest.raises(WebRefusal, match="more than 10 bytes"):
        WebExchange({}, body_max_bytes=10).send(f"{server.url}/x", method="GET")
    WebExchange({}).send(f"{server.url}/x", b"1")


def test_a_closed_exchange_waits_no_longer(server: Server) -> None:
    server.answer = lambda _: Said(500)
    exchange = WebExchange({}, retries=9, back_off_s=3600)
    exchange.close()
    with pytest.raises(RetriableConnectError, match="500"):
        exchange.send(f"{server.url}/x?token=secret", b"1")
    assert len(server.bodies) == 1


def test_addresses_and_headers_are_checked() -> None:
    assert shown_url("http://h/p?token=secret#x") == "http://h/p"
    for url in ("file:///etc/passwd", "http://", "http://me:secret@h/", "http://[x/"):
        with pytest.raises(ConfigError, match="u: it is no address") as refused:
            checked_url("u", url)
        assert "secret" not in str(refused.value)
    assert header_pairs("h", "A: 1|B:2|", "|") == {"A": "1", "B": "2"}
    with pytest.raises(ConfigError, match="NAME:VALUE"):
        header_pairs("h", "A: 1\nB: 2", "|")
