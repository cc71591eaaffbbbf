"""Records are written in bulk: those of a topic, and those of a file."""

import json

import pytest

from moldau.console.access import ConsoleRights, Role, TopicGrant
from moldau.console.api import transfers
from moldau.console.seats import Seats
from moldau.testing.broker import EmbeddedBroker
from moldau.web.users import Users
from unit.console.asking import API, Asking, asking


async def ended(console: Asking, path: str, body: object) -> dict[str, object]:
    answer = await console.ask("POST", API + path, body)
    assert answer.status == 200, answer.body
    found: dict[str, object] = json.loads(answer.body.splitlines()[-1])["end"]
    return found


async def sent_file(console: Asking, topic: str, data: bytes, more: str = "") -> dict[str, object]:
    from unit.web.requests import ask

    headers = {"content-type": "application/octet-stream"}
    path = f"{API}/topics/{topic}/import?{more}"
    answer = await ask(console.app, "POST", path, body=data, headers=headers)
    assert answer.status == 200, answer.body
    found: dict[str, object] = json.loads(answer.body.splitlines()[-1])["end"]
    return found


async def values(console: Asking, topic: str) -> list[str]:
    answer = await console.ask("GET", f"{API}/topics/{topic}/export?start=oldest")
    return [json.loads(line).get("value") for line in answer.body.splitlines()]


@pytest.fixture
async def topics(console: Asking) -> Asking:
    names = [each["name"] for each in (await console.get("/topics"))["topics"]]
    if "from" not in names:
        for name in ("from", "to"):
            await console.send("POST", "/topics", {"name": name, "partitions": 1})
        for value in ("a", "b", "c"):
            await console.send("POST", "/topics/from/messages", {"key": "k", "value": value})
        binary = {"value_base64": "/wA=", "headers": [{"name": "h", "value_base64": "/w=="}]}
        await console.send("POST", "/topics/from/messages", binary)
    return console


async def test_records_are_replayed_byte_for_byte(topics: Asking) -> None:
    end = await ended(topics, "/topics/from/replay", {"to": "to", "records": [[0, "3"], [0, 1]]})
    assert end == {"written": 2, "topic": "to"}
    first = await topics.get("/topics/to/messages/0/0")
    assert (first["value"]["hex"][10:15], first["headers"][0][1]["kind"]) == ("ff 00", "hex")
    again = await ended(topics, "/topics/from/replay", {"to": "to", "query": "filter=a"})
    assert again["written"] == 1
    assert (await values(topics, "to"))[1:] == ["b", "a"]
    itself = {"query": "start=oldest", "limit": 2}
    assert (await ended(topics, "/topics/from/replay", itself))["written"] == 2
    gone = await ended(topics, "/topics/from/replay", {"to": "to", "records": [[0, 99]]})
    assert (gone["written"], "no record 99" in str(gone["error"])) == (0, True)


async def test_an_export_is_imported_again(topics: Asking) -> None:
    for kind in ("jsonl", "parquet"):
        name = f"again-{kind}"
        await topics.send("POST", "/topics", {"name": name, "partitions": 1})
        path = f"{API}/topics/from/export?start=oldest&limit=4"
        file = await topics.ask("GET", f"{path}&format={kind}")
        end = await sent_file(topics, name, file.body, f"format={kind}&keep_time=1")
        assert end == {"written": 4, "topic": name}
        copy = await topics.ask("GET", f"{API}/topics/{name}/export?start=oldest")
        assert copy.body == (await topics.ask("GET", path)).body


async def test_what_cannot_be_written_is_said_with_what_was(topics: Asking) -> None:
    data = b'{"value": "x"}\n' * 1000 + b"{"
    await topics.send("POST", "/topics", {"name": "half", "partitions": 1})
    end = await sent_file(topics, "half", data)
    assert end["written"] == 1000
    assert "line 1001" in str(end["error"])
    end = await sent_file(topics, "half", b'{"value": "x", "partition": 9}', "keep_partition=1")
    assert end["error"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/topics/from/replay", {"to": 1}, 400),
        ("/topics/from/replay", {"to": "absent"}, 404),
        ("/topics/from/replay", {"records": []}, 400),
        ("/topics/from/replay", {"records": [1]}, 400),
        ("/topics/from/replay", {"limit": 0}, 400),
        ("/topics/from/replay", {"query": "filter=("}, 400),
        ("/topics/absent/import", {}, 404),
        ("/topics/from/import?format=exe", {}, 400),
    ],
)
async def test_what_makes_no_sense_is_refused(
    topics: Asking, path: str, body: object, status: int
) -> None:
    assert (await topics.refused("POST", path, body))[0] == status


async def test_a_file_has_an_end(topics: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "_UPLOAD_BYTES_MAX", 10)
    assert (await topics.refused("POST", "/topics/from/import", {"value": "x" * 20}))[0] == 413
    monkeypatch.setattr(transfers, "WRITES", Seats("imports", total=9, each=0))
    assert (await topics.refused("POST", "/topics/from/import", {}))[0] == 429
    assert (await topics.refused("POST", "/topics/from/replay", {}))[0] == 429


async def test_read_only_writes_nothing(broker: EmbeddedBroker) -> None:
    servers = {"local": {"bootstrap.servers": broker.bootstrap_servers}}
    async with asking(servers, ConsoleRights(is_read_only=True)) as console:
        for path in ("replay", "import", "messages"):
            assert (await console.refused("POST", f"/topics/from/{path}", {}))[0] == 403


async def test_who_may_write_to_one_topic_copies_nothing_to_another() -> None:
    rights = ConsoleRights(grants=(TopicGrant(("anna",), Role.OPERATOR, ("mine-*",)),))
    users = Users(["anna: secret"], ("viewer",))
    headers = {"authorization": "Basic YW5uYTpzZWNyZXQ="}
    async with asking({"local": {"bootstrap.servers": "127.0.0.1:1"}}, rights, users=users) as it:
        path = f"{API}/topics/mine-1/replay"
        answer = await it.ask("POST", path, {"to": "other", "query": ""}, headers)
    assert answer.status == 403
    assert b"on other" in answer.body
