"""Files of partitions in JSON."""

from pathlib import Path

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.partition_file import (
    field,
    partition_of,
    read_entries,
    read_topics,
    require_unique,
)
from moldau.model import TopicPartition


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "partitions.json"


def test_partitions_are_read(file: Path) -> None:
    file.write_text('{"partitions": [{"topic": "a", "partition": 3, "offset": 7}]}')
    (entry,) = read_entries(str(file))
    assert partition_of(entry, "f") == TopicPartition("a", 3)
    assert field(entry, "offset", int, "f") == 7


def test_topics_are_read(file: Path) -> None:
    file.write_text('{"topics": [{"topic": "a"}, {"topic": "b"}], "version": 1}')
    assert read_topics(str(file)) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not JSON"),
        ("[]", "has no list of objects called topics"),
        ('{"topics": "a"}', "has no list of objects called topics"),
        ('{"topics": [1]}', "has no list of objects called topics"),
        ('{"topics": [{}]}', "topic is missing in {}, or is no str"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(file: Path, text: str, reason: str) -> None:
    file.write_text(text)
    with pytest.raises(CommandFailed) as failed:
        read_topics(str(file))
    assert reason in str(failed.value)


def test_a_missing_file_is_named(file: Path) -> None:
    with pytest.raises(CommandFailed, match=r"partitions\.json: No such file"):
        read_topics(str(file))


def test_a_partition_may_not_stand_twice() -> None:
    once = [TopicPartition("a", 0), TopicPartition("a", 1)]
    require_unique(once, "no")
    with pytest.raises(CommandFailed, match="no: a-0"):
        require_unique([*once, TopicPartition("a", 0)], "no")
