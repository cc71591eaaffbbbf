"""Directories of brokers."""

from pathlib import Path

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.log_dirs import Replica
from moldau.errors import BrokerNotAvailable, KafkaStorageError, LogDirNotFound
from moldau.model import TopicPartition
from moldau.protocol.messages.describe_log_dirs import (
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Respond

T0 = TopicPartition("t", 0)


@pytest.fixture
def kafka_settings(tmp_path: Path) -> dict[str, str]:
    return {"log.dirs": f"{tmp_path / 'a'},{tmp_path / 'b'}"}


async def test_replicas_are_found_in_their_directories(admin: Admin, tmp_path: Path) -> None:
    await admin.create_topics(["t", "u"])
    everything = (await admin.describe_log_dirs())[0]
    assert set(everything) == {str(tmp_path / "a"), str(tmp_path / "b")}
    assert all(each.error is None and each.total_bytes > 0 for each in everything.values())
    found = (await admin.describe_log_dirs([0], partitions=[T0]))[0]
    assert [list(each.replicas) for each in found.values() if each.replicas] == [[T0]]


async def test_a_replica_moves_to_another_directory(admin: Admin, tmp_path: Path) -> None:
    await admin.create_topics(["t"])
    (before,) = await places(admin)
    (other,) = {str(tmp_path / "a"), str(tmp_path / "b")} - {before}
    replica = Replica(0, T0)
    (await admin.alter_replica_log_dirs({replica: other})).check()
    while await places(admin) != [other]:
        pass
    with pytest.raises(LogDirNotFound):
        (await admin.alter_replica_log_dirs({replica: "/nowhere"})).check()


async def places(admin: Admin) -> list[str]:
    found = (await admin.describe_log_dirs(partitions=[T0]))[0]
    return [path for path, each in found.items() if T0 in each.replicas]


async def test_a_broker_that_is_not_there_has_an_error(admin: Admin) -> None:
    outcomes = await admin.describe_log_dirs([0, 9])
    assert list(outcomes.succeeded) == [0]
    with pytest.raises(BrokerNotAvailable):
        outcomes[9]


async def test_a_directory_that_failed_says_why(admin: Admin, kafka: EmbeddedBroker) -> None:
    failed = DescribeLogDirsResult(error_code=56, log_dir="/d", topics=[])
    answer = DescribeLogDirsResponse(throttle_time_ms=0, results=[failed])
    kafka.control("DescribeLogDirs", lambda _: Respond(answer))
    assert isinstance((await admin.describe_log_dirs())[0]["/d"].error, KafkaStorageError)
