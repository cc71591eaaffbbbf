"""AlterReplicaLogDirs: replicas move while they are in use."""

from collections.abc import AsyncIterator

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from unit.broker.world import World, broker_world, until

NEWEST = 2


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world({"log.dirs": "/a,/b"}) as world:
        await world.create_topic("t")
        world.append("t", b"one", b"two")
        yield world


async def move(
    world: World, path: str, *, topic: str = "t", number: int = 0, version: int = NEWEST
) -> int:
    moved = AlterReplicaLogDirTopic(name=topic, partitions=[number])
    request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=[moved])])
    (result,) = (await world.ask(request, version)).results
    assert (result.topic_name, result.partitions[0].partition_index) == (topic, number)
    code: int = result.partitions[0].error_code
    return code


def place(world: World) -> str:
    directory = world.broker.logs.directory_of(TopicPartition("t", 0))
    assert directory is not None
    return directory.volume.path


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_a_replica_moves_with_all_its_records(world: World, version: int) -> None:
    assert place(world) == "/a"
    assert await move(world, "/b", version=version) == ErrorCode.NONE
    await until(world.broker.waiters, lambda: place(world) == "/b", "")
    log = world.partition("t").log
    assert log.folder.path == "/b/t-0"
    assert (log.log_end_offset, log.high_watermark) == (2, 2)
    world.append("t", b"three")
    assert world.partition("t").log.log_end_offset == 3


async def test_a_replica_that_is_there_already_stays(world: World) -> None:
    assert await move(world, "/a") == ErrorCode.NONE
    assert place(world) == "/a"


@pytest.mark.parametrize("path", ["/nowhere", "a", ""])
async def test_only_log_directories_can_be_moved_to(world: World, path: str) -> None:
    assert await move(world, path) == ErrorCode.LOG_DIR_NOT_FOUND


async def test_what_is_not_there_cannot_move(world: World) -> None:
    assert await move(world, "/b", topic="none") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert await move(world, "/b", number=9) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_nothing_moves_to_a_directory_that_is_offline(world: World) -> None:
    world.broker.logs.directories[1].volume.fail(OSError("broken"))
    assert await move(world, "/b") == ErrorCode.KAFKA_STORAGE_ERROR
