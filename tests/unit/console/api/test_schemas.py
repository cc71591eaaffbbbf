"""Schemas are listed, compared, checked before they are registered, and registered."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping

import pytest

from moldau.console.api.schemas import compared, pretty
from moldau.console.services.rest import RestService
from moldau.testing.broker import EmbeddedBroker
from moldau.web.errors import WebError
from unit.console.asking import Asking, asking
from unit.registry.started import StartedRegistry, started_registry

NOWHERE = {"local": {"bootstrap.servers": "127.0.0.1:1"}}
FIRST = {"type": "record", "name": "Order"}
ID = {"name": "id", "type": "long"}
OPTIONAL = {"name": "note", "type": ["null", "string"], "default": None}
NEEDED = {"name": "user", "type": "string"}


@pytest.fixture(scope="module")
def registry(broker: EmbeddedBroker) -> Iterator[StartedRegistry]:
    with started_registry(broker.bootstrap_servers) as running:
        yield running


@pytest.fixture
async def known(registry: StartedRegistry) -> AsyncIterator[Asking]:
    async with asking(NOWHERE, beside={"schemas": RestService(registry.url)}) as found:
        yield found


def schema(*more: Mapping[str, object]) -> dict[str, str]:
    return {"schema": json.dumps({**FIRST, "fields": [ID, *more]})}


async def test_a_schema_is_checked_registered_and_compared(known: Asking) -> None:
    path = "/schemas/%3Cb%3E%2Forders-value"
    assert (await known.refused("GET", path))[0] == 404
    plan = await known.send("POST", f"{path}/plan", schema())
    assert plan == {"version": None, "is_compatible": True, "messages": []}
    first = await known.send("POST", f"{path}/versions", schema())
    assert (await known.send("POST", f"{path}/plan", schema()))["version"] == 1
    broken = await known.send("POST", f"{path}/plan", schema(NEEDED))
    assert not broken["is_compatible"]
    assert "user" in "".join(broken["messages"])
    assert (await known.refused("POST", f"{path}/versions", schema(NEEDED)))[0] == 409
    await known.send("POST", f"{path}/versions", schema(OPTIONAL))
    found = await known.get(path)
    assert (found["subject"], found["versions"]) == ("<b>/orders-value", [1, 2])
    assert (found["level"], found["is_own_level"]) == ("BACKWARD", False)
    assert (await known.get(f"{path}/versions/1"))["id"] == first["id"]
    lines = (await known.get(f"{path}/diff?from=1&to=2"))["lines"]
    assert ["+", '      "name": "note",'] in lines
    assert [" ", '      "name": "id",'] in lines
    assert (await known.get("/schemas"))["subjects"] == ["<b>/orders-value"]


async def test_what_is_no_schema_is_refused_in_the_registrys_words(known: Asking) -> None:
    status, message = await known.refused("POST", "/schemas/x/plan", {"schema": "{"})
    assert (status, "schema" in message.lower()) == (422, True)
    assert (await known.refused("POST", "/schemas/x/plan", {"schema": ""}))[0] == 400
    assert (await known.refused("POST", "/schemas/x/plan", {**schema(), "type": "xml"}))[0] == 400
    assert (await known.refused("GET", "/schemas/x/versions/one"))[0] == 400


async def test_without_a_registry_it_is_said_how_to_name_one(console: Asking) -> None:
    status, message = await console.refused("GET", "/schemas")
    assert (status, "--registry URL" in message) == (404, True)


def test_lines_that_differ_have_a_mark() -> None:
    found = compared("a\nb\nc", "a\nx\nc\nd")
    assert found == [[" ", "a"], ["-", "b"], ["+", "x"], [" ", "c"], ["+", "d"]]
    with pytest.raises(WebError, match="more than 5000 lines"):
        compared("", "\n" * 6000)


def test_what_is_no_json_is_shown_as_it_is() -> None:
    assert pretty("message A {}") == "message A {}"
    assert pretty('{"a":"ü"}') == '{\n  "a": "ü"\n}'
