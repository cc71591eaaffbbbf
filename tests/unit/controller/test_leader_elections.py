"""Elections of a controller's term, and what is read for them."""

import pytest

from moldau.controller.cluster import LeaderIsr
from moldau.coordination.layout.configs import ConfigEntity
from moldau.coordination.memory import MemoryTree
from moldau.coordination.tree import TreeNode, Watch
from moldau.model import TopicPartition
from unit.controller.brokers import Cluster, settled

T0 = TopicPartition("t", 0)


class NotedReads:
    """The topics whose settings were read in a session."""

    def __init__(self, tree: MemoryTree, monkeypatch: pytest.MonkeyPatch) -> None:
        self.topics: list[str] = []
        self._get = tree.get
        monkeypatch.setattr(tree, "get", self.get)

    async def get(self, path: str, *, watch: Watch | None = None) -> TreeNode:
        if path.startswith("/config/topics/"):
            self.topics.append(path.rpartition("/")[2])
        return await self._get(path, watch=watch)


@pytest.mark.parametrize(("text", "leader"), [("true", 1), ("false", -1)])
async def test_an_election_goes_by_the_settings_that_a_topic_has_now(
    text: str, leader: int
) -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(3):
        await cluster.create_topic("t", (2, 1))
        await settled()
        await cluster.write_isr("t", 2)
        await cluster.set_unclean("t", text)
        cluster.leave(2)
        await settled()
        assert (await cluster.state("t")).leader == leader


async def test_settings_are_read_once_for_a_topic_and_only_if_nobody_in_sync_can_lead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(3):
        await cluster.create_topic("t", (2, 1), (2, 1))
        await cluster.create_topic("single", (2,))
        await cluster.create_topic("elsewhere", (1, 3))
        await settled()
        reads = NotedReads(cluster.sessions[3], monkeypatch)
        cluster.leave(1)
        await settled()
        assert reads.topics == []
        await cluster.join(1)
        await settled()
        cluster.leave(2)
        await settled()
        # Broker 1 could lead both partitions of it, but has never come into sync again.
        assert reads.topics == ["t"]
        assert [(await cluster.state("t", number)).leader for number in (0, 1)] == [-1, -1]
        assert (await cluster.state("elsewhere")).leader == 3


async def test_settings_are_read_too_if_the_last_in_sync_set_is_only_seen_at_the_election() -> None:
    """A leader that was left alone in sync and went: the controller has heard of neither."""
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(3):
        await cluster.create_topic("t", (2, 1))
        await settled()
        await cluster.set_unclean("t", "true")
        await cluster.write_isr("t", 2)
        cluster.leave(2)
        await settled()
        state = await cluster.state("t")
        assert (state.leader, state.isr) == (1, (1,))


async def test_a_topic_whose_settings_are_not_understood_is_not_led_by_replicas_out_of_sync(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(3):
        await cluster.create_topic("t", (2, 1))
        await settled()
        await cluster.write_isr("t", 2)
        await cluster.admin.set(ConfigEntity.topic("t").path, b"?")
        cluster.leave(2)
        await settled()
        assert (await cluster.state("t")).leader == -1
        assert "Failed to parse settings of topic t" in caplog.text


async def test_when_the_rules_change_partitions_without_a_leader_get_one() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        service.rules_changed()
        await cluster.create_topic("t", (2, 1))
        await settled()
        await cluster.write_isr("t", 2)
        cluster.leave(2)
        await settled()
        assert (await cluster.state("t")).leader == -1
        await cluster.set_unclean("t", "true")
        service.rules_changed()
        await settled()
        assert (await cluster.state("t")).leader == 1


async def test_an_unclean_election_is_held_where_there_is_no_leader() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (2, 1))
        await settled()
        await cluster.write_isr("t", 2)
        await service.perform(lambda term: term.elections.unclean([T0]))
        assert (await cluster.state("t")).leader == 2
        cluster.leave(2)
        await settled()
        assert (await cluster.state("t")).leader == -1
        unknown = TopicPartition("x", 0)
        await service.perform(lambda term: term.elections.unclean([T0, unknown]))
        state = await cluster.state("t")
        assert (state.leader, state.isr) == (1, (1,))
        assert service.machine.cluster.leaders[T0] == LeaderIsr(1, 2, (1,), 1, 3)


async def test_the_first_replica_leads_again_when_it_is_in_sync() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (2, 1))
        await settled()
        cluster.leave(2)
        await settled()
        await cluster.join(2)
        await settled()
        preferred = [T0, TopicPartition("x", 0)]
        assert await service.perform(lambda term: term.elections.preferred(preferred)) == [T0]
        await cluster.write_isr("t", 1, 2)
        assert await service.perform(lambda term: term.elections.preferred(preferred)) == []
        assert (await cluster.state("t")).leader == 2
