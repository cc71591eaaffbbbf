"""Settings of topics from a file, or from a ZooKeeper."""

from pathlib import Path

import pytest

from moldau.cli.terminal.listed_topics import read_listed_topics
from moldau.config.broker.startup import read_startup
from moldau.config.topic_listing import ListedTopic
from moldau.errors import InvalidConfig

ALONE = {"log.dirs": "/logs"}


def refusal(source: str, settings: dict[str, str] = ALONE) -> str:
    with pytest.raises(InvalidConfig) as refused:
        read_listed_topics(source, read_startup(settings))
    return str(refused.value)


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "topics.json"
    file.write_text('{"orders": {"retention.ms": -1}}')
    found = read_listed_topics(str(file), read_startup(ALONE))
    assert found == {"orders": ListedTopic({"retention.ms": "-1"})}


def test_what_is_wrong_with_a_file_is_said_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "topics.json"
    for data, reason in (
        (b"{}", "no topic is listed"),
        (b"\xff", "not text"),
        (b'{"t": {"no.such": "1"}}', "topic t: Unknown topic config name: no.such"),
    ):
        file.write_bytes(data)
        assert refusal(str(file)).startswith(f"--topic-configs {file}: {reason}")


def test_zookeeper_is_asked_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moldau.cli.znodes.session._CONNECT_MS", 50)
    assert "connection refused" in refusal("zookeeper://127.0.0.1:1/kafka")


def test_a_broker_that_has_a_zookeeper_needs_no_list() -> None:
    settings = ALONE | {"zookeeper.connect": "127.0.0.1:1"}
    assert "are in the ZooKeeper of zookeeper.connect" in refusal("topics.json", settings)
