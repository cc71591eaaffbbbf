"""Producers with several batches under way: they are told apart, kept in order, and few."""

import asyncio

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.records.batch import Producer
from simulation.client import TOPIC, Client
from simulation.history import Outcome, Write
from simulation.script import Stage, played
from simulation.shapes import Shape
from simulation.writing import IN_FLIGHT_MAX, Unrecognised, Window, batch_of

PARTITION = TopicPartition(TOPIC, 0)
ONE = Shape(partition_count=1)
THREE = Shape(broker_count=3, partition_count=1)


def batch_at(client: Client, number: int) -> tuple[Write, bytes]:
    """A batch of one record, and what is noted of it."""
    write = Write(client.name, 0, [f"p#{number}"])
    return write, batch_of(client, write.values, Producer(7, 0, number))


def test_five_batches_are_under_way_and_come_again_in_order_when_their_leader_dies() -> None:
    async def story(stage: Stage) -> list[str]:
        client = stage.client()
        window = Window(client, 0)
        await window.send(*batch_at(client, 0))
        await window.settle()
        broker = stage.brokers[stage.state().leader]
        assert broker.running is not None
        log, leader = broker.running.broker.logs.get(PARTITION), broker.machine
        assert log is not None
        # Its answers do not arrive.
        stage.world.network.link(leader.name, "client").cut()
        sent = [batch_at(client, number) for number in range(1, IN_FLIGHT_MAX + 1)]
        for write, batch in sent:
            await window.send(write, batch)
        following = asyncio.get_running_loop().create_task(
            window.send(*batch_at(client, IN_FLIGHT_MAX + 1))
        )
        await asyncio.sleep(1)
        assert not following.done(), "one more was sent than a broker knows again"
        assert log.log_end_offset == 1 + IN_FLIGHT_MAX
        leader.kill()
        await following
        await window.settle()
        assert {write.outcome for write, _ in sent} == {Outcome.DONE}
        assert [write.base_offset for write, _ in sent] == list(range(1, IN_FLIGHT_MAX + 1))
        return await stage.visible()

    assert played(story, THREE) == [f"p#{number}" for number in range(IN_FLIGHT_MAX + 2)]


def test_a_batch_that_does_not_follow_what_was_acknowledged_is_not_sent_for_ever() -> None:
    async def story(stage: Stage) -> ErrorCode:
        client = stage.client()
        window = Window(client, 0)
        await window.send(*batch_at(client, 0))
        await window.send(*batch_at(client, 2))
        with pytest.raises(KafkaError) as refused:
            await window.settle()
        return refused.value.code

    assert played(story, THREE) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_broker_that_was_started_again_knows_the_last_batch_alone_as_with_kafka_3() -> None:
    async def story(stage: Stage) -> None:
        client, broker = stage.client(), stage.brokers[1]
        link = stage.world.network.link(broker.machine.name, "client")
        for is_last in (False, True):
            window = Window(client, 0)
            start = 3 * is_last
            await window.send(*batch_at(client, start))
            await window.settle()
            link.cut()
            for number in range(1, 2 if is_last else 3):
                await window.send(*batch_at(client, start + number))
            await asyncio.sleep(1)
            broker.stop()
            await stage.until(lambda: not broker.machine.is_up)
            link.mend()
            broker.start()
            if is_last:
                await window.settle()
            else:
                with pytest.raises(Unrecognised):
                    await window.settle()

    played(story, ONE)
