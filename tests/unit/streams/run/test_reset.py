"""An application begins anew: its state is forgotten, and where it begins is noted."""

import asyncio
from pathlib import Path

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.client.offset_lookup import LATEST
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.streams.run.manifest import Manifest
from moldau.streams.run.reset import Offsets, Reset, StartPoint, checkpointed, starting_offsets
from moldau.testing.broker import EmbeddedBroker
from unit.client.topics import create_topic

FIRST, SECOND = TopicPartition("lines", 0), TopicPartition("lines", 1)


@pytest.fixture
def filled(kafka: EmbeddedBroker) -> EmbeddedBroker:
    """Three records in the first partition, at 0, 10 and 20 ms, and none in the second."""
    create_topic(kafka, "lines", 2)
    create_topic(kafka, "app-counts-changelog", 1)
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in range(3):
            producer.send("lines", b"x", partition=0, timestamp_ms=number * 10)
    return kafka


def found(kafka: EmbeddedBroker, start: StartPoint, topic: str = "lines") -> Offsets:
    async def ask() -> Offsets:
        async with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
            return await starting_offsets(admin, [topic], start)

    return asyncio.run(ask())


def test_a_start_is_looked_up_for_every_partition(filled: EmbeddedBroker) -> None:
    assert found(filled, StartPoint()) == {FIRST: 0, SECOND: 0}
    assert found(filled, StartPoint(LATEST)) == {FIRST: 3, SECOND: 0}
    assert found(filled, StartPoint(2)) == {FIRST: 2, SECOND: 0}
    # Where nothing is so late, it is the end.
    assert found(filled, StartPoint(None, 5)) == {FIRST: 1, SECOND: 0}
    with pytest.raises(KafkaError, match="there is no topic 'words'"):
        found(filled, StartPoint(), "words")


def test_state_and_changelogs_are_gone_and_the_start_is_noted(
    filled: EmbeddedBroker, tmp_path: Path
) -> None:
    (tmp_path / "app-counts").mkdir()
    (tmp_path / "app-counts" / "metadata").touch()
    (tmp_path / "spark.log").touch()
    reset = Reset(
        str(tmp_path),
        checkpointed(str(tmp_path)),
        ("app-counts-changelog", "app-never-made-changelog"),
        {FIRST: 2, SECOND: 0},
        4,
    )
    assert reset.lines() == [
        f"forget the state of app-counts in {tmp_path / 'app-counts'}",
        "delete the topic app-counts-changelog",
        "delete the topic app-never-made-changelog",
        "begin lines-0 at 2",
        "begin lines-1 at 0",
        "keep state in 4 partitions",
    ]

    async def do() -> list[str]:
        async with Admin(bootstrap_servers=filled.bootstrap_servers) as admin:
            await reset.do(admin)
            return list(await admin.list_topics())

    assert asyncio.run(do()) == ["lines"]
    assert not (tmp_path / "app-counts").exists()
    assert (tmp_path / "spark.log").exists()
    manifest = Manifest.read(str(tmp_path))
    assert manifest == Manifest({}, {"lines": {"0": 2, "1": 0}}, 4)


def test_a_checkpoint_elsewhere_is_left_to_its_own_tools() -> None:
    with pytest.raises(ValueError, match="is not on this machine"):
        checkpointed("s3a://bucket/app")
