"""What is hidden is seen by nobody, and found by no filter."""

import json
from collections.abc import AsyncIterator

import pyarrow as pa
import pytest

from moldau.client.producer.producer import Producer
from moldau.console.app import ENDPOINTS
from moldau.console.masking import MaskRule, Masks, read_path
from moldau.testing.broker import EmbeddedBroker
from unit.console.asking import API, Asking, asking, streaming

SECRET = "4111-1111"
PATHS = ("value.card.number", "value.users.*.email", "headers.token")


def masked(value: object, *paths: str) -> object:
    mask = Masks([MaskRule(("t",), tuple(read_path(each) for each in paths))]).of("t")
    assert mask is not None
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    table = mask.table(pa.table({"value": pa.array([data], pa.binary())}))
    found: bytes = table["value"][0].as_py()
    try:
        return json.loads(found)
    except ValueError:
        return found


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        ({"a": 1, "b": 2}, "value.a", {"a": "***", "b": 2}),
        ({"a": {"b": [1, 2]}}, "value.a.b.0", {"a": {"b": ["***", 2]}}),
        ({"a": [{"b": 1}, {"b": 2}]}, "value.a.b", {"a": [{"b": "***"}, {"b": "***"}]}),
        ({"a": [[{"b": 1}]]}, "value.a.b", {"a": [[{"b": "***"}]]}),
        ({"a": {"x": {"b": 1}}}, "value.a.*.b", {"a": {"x": {"b": "***"}}}),
        ([{"a": 1}], "value.a", [{"a": "***"}]),
        ([1, 2], "value.*", ["***", "***"]),
        ({"a.b": 1}, 'value."a.b"', {"a.b": "***"}),
        ({"a": None}, "value.a", {"a": "***"}),
        ({"b": 9007199254740993}, "value.a", {"b": 9007199254740993}),
        ({"a": 1}, "value", b"***"),
        ({"a": "x"}, "value.a.b", {"a": "x"}),
    ],
)
def test_paths_lead_through_objects_and_lists(value: object, path: str, expected: object) -> None:
    assert masked(value, path) == expected


@pytest.mark.parametrize(
    "value",
    [b"plain 4111", b"\x00\x00\x00\x00\x01avro", b"4111", b'"4111"', b"[" * 100_000, b"{"],
)
def test_what_cannot_be_looked_into_is_hidden_whole(value: bytes) -> None:
    assert masked(value, "value.card") == b"***"


def test_nothing_stays_nothing() -> None:
    mask = Masks([MaskRule(("t*",), (("value", "a"), ("key",)))]).of("tx")
    assert mask is not None
    kind = pa.binary()
    table = pa.table({"value": pa.array([None, b""], kind), "key": pa.array([None, b"k"], kind)})
    found = mask.table(table)
    assert found.schema == table.schema
    assert found["value"].to_pylist() == [None, b""]
    assert found["key"].to_pylist() == [None, b"***"]
    assert Masks([MaskRule(("t*",), (("key",),))]).of("other") is None


@pytest.fixture
async def hidden(broker: EmbeddedBroker) -> AsyncIterator[Asking]:
    rules = [MaskRule(("cards*",), tuple(read_path(each) for each in PATHS))]
    clusters = {"local": {"bootstrap.servers": broker.bootstrap_servers}}
    async with asking(clusters, beside={"masks": Masks(rules)}) as found:
        yield found


async def lines(console: Asking, query: str) -> tuple[list[dict[str, object]], bytes]:
    answer = await console.ask("GET", f"{API}/topics/cards/messages?start=oldest&{query}")
    assert answer.status == 200, answer.body
    found = [json.loads(each) for each in answer.body.splitlines()]
    return [each["row"] for each in found if "row" in each], answer.body


async def test_no_view_and_no_filter_shows_what_is_hidden(
    hidden: Asking, broker: EmbeddedBroker
) -> None:
    await hidden.send("POST", "/topics", {"name": "cards", "partitions": 1})
    record = {"card": {"number": SECRET}, "users": [{"email": SECRET}], "amount": 3}
    async with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        headers = [("token", SECRET.encode())]
        await producer.send_and_wait("cards", json.dumps(record).encode(), headers=headers)
        await producer.send_and_wait("cards", f"no JSON {SECRET}".encode())
    rows, body = await lines(hidden, "")
    assert (len(rows), SECRET.encode() in body, b"amount" in body) == (2, False, True)
    for wanted in (
        SECRET,
        f"value%20contains%20%22{SECRET}%22",
        f"value.card.number%20%3D%20%22{SECRET}%22",
        f"headers.token%20%3D%20%22{SECRET}%22",
        "value%20startswith%20%22no%20JSON%22",
    ):
        assert (await lines(hidden, f"filter={wanted}"))[0] == [], f"{wanted} is an oracle"
    assert len((await lines(hidden, "filter=value.amount%20%3D%203"))[0]) == 1
    for path in (
        *("messages/0/0", "messages/0/0?download=value", "messages/0/1"),
        "messages?start=oldest&columns=value.card.number,headers.token",
        *("export?start=oldest&format=jsonl", "export?start=oldest&format=csv"),
        "sql?start=oldest&sql=SELECT%20value%20FROM%20records",
    ):
        answer = await hidden.ask("GET", f"{API}/topics/cards/{path}")
        assert answer.status == 200
        assert SECRET.encode() not in answer.body, path
        assert b"***" in answer.body, path
    async with streaming(hidden.app, "/topics/cards/live?cursor=0:0") as stream:
        _, said = await stream.event("live")
    assert len(said["rows"]) == 2
    assert SECRET not in json.dumps(said)
    copied = await hidden.refused("POST", "/topics/cards/replay", {"to": "other", "query": ""})
    assert copied[0] == 403, "a copy would have what is hidden"


def test_what_reads_records_keeps_to_masks() -> None:
    reading = [each for each in ENDPOINTS if "{topic}" in each.path and each.is_audited_read]
    assert reading
    assert all(each.is_masked for each in reading)


async def test_what_does_not_keep_to_masks_is_refused(hidden: Asking) -> None:
    (endpoint,) = (each for each in ENDPOINTS if each.path.endswith("/export"))
    object.__setattr__(endpoint, "is_masked", False)  # as one that somebody forgot
    try:
        status, message = await hidden.refused("GET", "/topics/cards/export")
    finally:
        object.__setattr__(endpoint, "is_masked", True)
    assert (status, "are hidden" in message) == (403, True)
