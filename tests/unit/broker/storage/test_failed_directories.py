"""Directories that fail while the broker runs are told to the controller."""

import asyncio

import pytest

from moldau.broker.storage.failed_directories import FailedDirectories
from moldau.coordination.layout import log_dirs as log_dir_nodes
from moldau.coordination.memory import MemoryEnsemble
from moldau.coordination.tree import Create
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from unit.broker.world import SettableClock, broker_world
from unit.waiting import LoopTime, settled, until

TWO = {"log.dirs": "/one,/two"}


async def test_a_failed_directory_costs_its_replicas_their_leaderships() -> None:
    async with broker_world(TWO) as world:
        await world.create_topic("t", 2)
        cluster = world.broker.controller.machine.cluster
        volume = world.broker.logs.directories[1].volume
        lost = [log.partition for log in world.broker.logs if log.folder.volume is volume]
        volume.fail(OSError("the cable is out"))

        def is_told() -> bool:
            image = world.broker.metadata.image.partition(*lost[0])
            return image is not None and image.offline_replicas == (0,)

        await until(is_told)
        assert all(cluster.leaders[one].leader == -1 for one in lost)
        kept = [TopicPartition("t", number) for number in range(2)]
        assert [cluster.leaders[one].leader for one in kept if one not in lost] == [0]
        assert list(cluster.failed[0]) == lost


async def test_a_failure_is_told_once_and_again_only_while_nobody_could_hear_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time = LoopTime(monkeypatch)

    async def pass_by() -> None:
        for _ in range(3):
            time.jump(1.0)
            await settled()

    async with broker_world({"log.dirs": "/one,/two,/three"}) as world:
        # A tree of its own, where no controller takes the notices away.
        tree = MemoryEnsemble(SettableClock()).connect()
        await tree.create(Create(log_dir_nodes.EVENTS_PATH))
        first, second, _ = world.broker.logs.directories
        first.volume.fail(OSError(ErrorCode.KAFKA_STORAGE_ERROR, "failed at the start"))
        failed = FailedDirectories([first, second], tree, 7, interval_s=1.0)
        running = asyncio.create_task(failed.run())
        await pass_by()
        assert await tree.children(log_dir_nodes.EVENTS_PATH) == []
        tree.suspend()
        second.volume.fail(OSError("failed now"))
        await pass_by()
        tree.resume()
        await pass_by()
        assert len(await tree.children(log_dir_nodes.EVENTS_PATH)) == 1
        running.cancel()
