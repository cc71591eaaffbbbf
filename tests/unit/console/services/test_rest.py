"""Services are asked where the configuration says, within bounds; their logins are not shown."""

import pytest

from moldau.console.services import rest
from moldau.console.services.rest import RestService, list_in, object_in, text_in
from moldau.web.errors import WebError
from unit.console.services.answering import answering


async def test_answers_and_names_are_what_was_sent() -> None:
    async with answering({"PUT /connectors/a%2Fb%3F%20c/config?x=1%262": (200, {"a": 1})}) as found:
        service = RestService(found.url.replace("http://", "http://anna:p%40ss@"))
        answer = await service.ask(
            *("PUT", "connectors", "a/b? c", "config"), body={"b": 2}, query={"x": "1&2"}
        )
    assert answer == {"a": 1}
    assert found.asked == [("PUT /connectors/a%2Fb%3F%20c/config?x=1%262", {"b": 2})]
    assert found.headers["authorization"] == "Basic YW5uYTpwQHNz"
    assert "anna" not in service.address
    assert "p%40ss" not in service.address


@pytest.mark.parametrize("name", ["", ".", ".."])
async def test_names_that_lead_elsewhere_are_refused(name: str) -> None:
    with pytest.raises(WebError, match="is no name"):
        await RestService("http://127.0.0.1:1").ask("GET", "connectors", name, "status")


@pytest.mark.parametrize(
    ("answer", "status", "message"),
    [
        ((404, {"message": "Connector <b> not found"}), 404, "Connector <b> not found"),
        ((409, {"message": 5}), 409, "5"),
        ((422, b"<h1>plain</h1>"), 422, "<h1>plain</h1>"),
        ((500, {"message": "it failed"}), 502, "it failed"),
        ((503, b""), 502, "HTTP 503"),
        ((401, b"who?"), 502, "refuses the console: who?"),
        ((200, b"<html>"), 502, "answers no JSON"),
        ((200, b"[" * 100_000), 502, "answers no JSON"),
    ],
)
async def test_what_goes_wrong_there_is_said_here(
    answer: tuple[int, object], status: int, message: str
) -> None:
    async with answering({"GET /x": answer}) as found:
        with pytest.raises(WebError) as refused:
            await RestService(found.url).ask("GET", "x")
    assert refused.value.status == status
    assert message in refused.value.message


async def test_no_redirect_is_followed() -> None:
    async with answering({"GET /x": (302, b""), "GET /elsewhere": (200, {})}) as found:
        assert (await RestService(found.url).send("GET", "x")).data == b""
    assert [path for path, _ in found.asked] == ["GET /x"]


async def test_an_answer_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "_ANSWER_BYTES_MAX", 1000)
    async with answering({"GET /x": (200, b" " * 1001)}) as found:
        with pytest.raises(WebError, match="larger than 1000 bytes"):
            await RestService(found.url).ask("GET", "x")


async def test_nobody_there_is_said_with_the_address() -> None:
    with pytest.raises(WebError, match=r"http://127.0.0.1:1 does not answer: Connection refused"):
        await RestService("http://anna:secret@127.0.0.1:1").ask("GET", "x")


@pytest.mark.parametrize(
    "url", ["", "localhost:8083", "file:///etc/passwd", "http://", "http://a:b"]
)
def test_what_is_no_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match=r"^no address such as http://host:port$"):
        RestService(url)


def test_what_others_say_may_be_anything() -> None:
    every: tuple[object, ...] = (None, 1, "a", [], {"a": 1}, {"a": None})
    for odd in every:
        assert object_in(odd, "a", "b") == {}
        assert list_in(odd, "a", "b") == []
        assert text_in(odd, "a") == ""
    assert list_in([1]) == [1]
    assert object_in({"a": {"b": {"c": 1}}}, "a", "b") == {"c": 1}
