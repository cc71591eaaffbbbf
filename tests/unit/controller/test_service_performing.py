"""What others have a controller do, and what it does by the clock."""

import asyncio

import pytest

from moldau.controller.cluster import ReplicaAssignment
from moldau.controller.service import Rules
from moldau.controller.term import Term
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.tree import Delete, SetData
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from unit.controller.brokers import Cluster, settled

T0 = TopicPartition("t", 0)


async def test_what_is_asked_for_is_done_between_the_jobs_and_answered() -> None:
    cluster = await Cluster.create(1)
    async with cluster.controller(1) as service:

        async def epoch(term: Term) -> int:
            return term.machine.epoch

        async def fail(_term: Term) -> int:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "no")

        assert await service.perform(epoch) == 1
        with pytest.raises(KafkaError, match="no"):
            await service.perform(fail)
        assert not service.is_deleting("t")


async def test_who_is_not_the_controller_does_nothing_when_asked() -> None:
    cluster = await Cluster.create(1)
    service = cluster.service(1)
    service.rules_changed()
    assert not service.is_deleting("t")

    async def never(_term: Term) -> None:
        raise AssertionError

    with pytest.raises(KafkaError) as refused:
        await service.perform(never)
    assert refused.value.code is ErrorCode.NOT_CONTROLLER


async def test_what_is_asked_of_a_controller_that_is_replaced_is_refused() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1,))
        await settled()

        async def write(term: Term) -> None:
            await cluster.admin.multi(
                [
                    Delete(controller_nodes.PATH),
                    SetData(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(7)),
                ]
            )
            await term.reassign({T0: (2,)})

        async def wait(_term: Term) -> None:
            raise AssertionError("it is due after the other, who ends this term")

        answers = await asyncio.gather(
            service.perform(write), service.perform(wait), return_exceptions=True
        )
        assert [getattr(one, "code", one) for one in answers] == [ErrorCode.NOT_CONTROLLER] * 2
        await settled()
        assert service.machine.epoch == 8


async def test_a_broken_connection_refuses_what_was_asked() -> None:
    cluster = await Cluster.create(1)
    async with cluster.controller(1) as service:
        cluster.sessions[1].suspend()
        with pytest.raises(KafkaError) as refused:
            await service.perform(lambda term: term.brokers_changed())
        assert refused.value.code is ErrorCode.NOT_CONTROLLER


async def test_leaders_are_balanced_by_and_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moldau.controller.service._FIRST_REBALANCE_S", 0.001)
    cluster = await Cluster.create(1, 2)
    rules = Rules(is_unclean_allowed=lambda _topic, _settings: False, rebalance_s=0.001)
    async with cluster.running(cluster.service(1, rules)) as service:
        await cluster.create_topic("t", (1, 2))
        await settled()
        # Another order, of which only the controller knows: the second should lead.
        service.machine.cluster.assign(T0, ReplicaAssignment((2, 1)))
        async with asyncio.timeout(10):
            while (await cluster.state("t")).leader != 2:
                await asyncio.sleep(0)
