"""The first records are shown as they would be written, and none is."""

from pathlib import Path

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.connect.connectors.file_stream import FileStreamSource
from moldau.connect.errors import ConfigError
from moldau.connect.worker.plugins import Plugin, Plugins
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.trial import Tried, first_records
from moldau.testing.broker import EmbeddedBroker

TEXTS = {"key.converter": "String", "value.converter": "String"}
REGISTRY = "http://127.0.0.1:1"


def tried(servers: str, kind: str, **config: str) -> list[Tried]:
    settings = WorkerSettings({"bootstrap.servers": servers, **TEXTS})
    named = {name.replace("__", "."): text for name, text in config.items()}
    return first_records(settings, Plugins().find(kind), named)


def test_a_source_shows_ten_and_asks_nobody_to_keep_them(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("".join(f"{at}\n" for at in range(20)))
    config = {"file": str(path), "topic": "t"}
    found = tried("127.0.0.1:1", "FileStreamSource", **config)
    assert found == [Tried("t", "null", str(at)) for at in range(10)]
    avro = {
        "value__converter": "AvroConverter",
        "value__converter__schema__registry__url": REGISTRY,
    }
    assert tried("127.0.0.1:1", "FileStreamSource", **config, **avro)[0].value == '"0"'
    bytes_only = {"value__converter": "ByteArrayConverter"}
    assert "not compatible" in str(
        tried("127.0.0.1:1", "FileStreamSource", **config, **bytes_only)[0].failure
    )


async def test_a_sink_shows_what_it_would_get_and_commits_nothing(kafka: EmbeddedBroker) -> None:
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for value in (b'{"a":1}', b"no json", b'{"a":"' + b"x" * 400 + b'"}'):
            producer.send("t", value, key=b"k")
    plain = {"value__converter": "JsonConverter", "value__converter__schemas__enable": "false"}
    found = tried(kafka.bootstrap_servers, "JdbcSink", topics="t", **plain)
    assert found[0] == Tried("t", '"k"', '{"a": 1}')
    assert "VALUE_CONVERTER, t-0 at offset 1" in str(found[1].failure)
    assert found[2].value.endswith("…")
    async with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        assert not await admin.list_groups()


def test_what_would_change_something_is_not_tried(tmp_path: Path) -> None:
    class Changing(FileStreamSource):
        reads_only = False

    plugin = Plugin("x", "y")
    plugin.__dict__["connector"] = Changing
    settings = WorkerSettings({})
    with pytest.raises(ConfigError, match="cannot be tried out"):
        first_records(settings, plugin, {"file": "x", "topic": "t"})
    capture = Plugins().find("PostgresConnector")  # it would make a slot
    with pytest.raises(ConfigError, match="cannot be tried out"):
        first_records(settings, capture, {"topic.prefix": "p", "database.hostname": "localhost"})
    with pytest.raises(ConfigError, match="name the topics"):
        tried("127.0.0.1:1", "JdbcSink", topics__regex="x")
