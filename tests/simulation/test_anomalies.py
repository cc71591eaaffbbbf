"""Anomalies that Jepsen has shown in systems that speak Kafka's protocol, one test for each.

The names are those of docs/reliability.md, where the others are named as well.
"""

import asyncio
from dataclasses import replace

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.records.batch import Producer
from moldau.testing.disk import lose_all
from simulation.client import TOPIC
from simulation.history import History, Outcome, Write
from simulation.invariants import violations
from simulation.reading import Fetched, fetch, read_all
from simulation.script import Stage, Transactor, played
from simulation.shapes import Shape
from simulation.writing import batch_of, produce

ONE = Shape(partition_count=1)
THREE = Shape(broker_count=3, partition_count=1)
# One replica in sync is enough for an acknowledgement.
LAST_STANDING = Shape(
    broker_count=3,
    partition_count=1,
    in_sync_wanted=1,
    settings={"log.flush.interval.messages": "1"},
)
FENCED = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED)


def test_a2_the_last_replica_in_sync_loses_nothing_that_was_synced() -> None:
    written, left = played(the_last_one_loses_power, LAST_STANDING)
    assert left == written


def test_a2_what_the_last_replica_has_not_synced_is_lost_as_with_kafka_3() -> None:
    """KIP-966: only `flush.messages=1`, or `min.insync.replicas` above one, is safe."""
    written, left = played(the_last_one_loses_power, replace(LAST_STANDING, settings={}))
    assert left == written[: len(left)]
    assert len(left) < len(written)


async def the_last_one_loses_power(stage: Stage) -> tuple[list[str], list[str]]:
    """What was acknowledged by the only replica in sync, and what is there afterwards."""
    last = stage.state().leader
    others = [broker for number, broker in stage.brokers.items() if number != last]
    for broker in others:
        broker.machine.kill()
    await stage.until(lambda: stage.state().isr == (last,))
    client = stage.client()
    written = [str(number) for number in range(20)]
    for number, value in enumerate(written):
        await produce(client, 0, batch_of(client, [value], Producer(7, 0, number)))
    stage.brokers[last].machine.lose_power(lose_all)
    for broker in others:
        broker.start()
    await asyncio.sleep(20)
    assert stage.state().leader == -1, "nobody else may lead"
    stage.brokers[last].start()
    await stage.until(lambda: len(stage.state().isr) == 3)
    return written, await stage.visible()


def test_a5_a_new_leader_shows_nothing_of_a_transaction_that_is_open_or_aborted() -> None:
    async def story(stage: Stage) -> None:
        writer = Transactor(stage, "writer")
        await writer.init()
        await writer.begin()
        aborted = [await writer.write(index) for index in range(3)]
        before = stage.state()
        stage.brokers[before.leader].machine.kill()
        await stage.until(lambda: stage.state().leader not in (-1, before.leader))
        reader = stage.client("reader")
        await reader.back_off()
        shown = await _first_answer(stage)
        assert shown.records == []
        assert shown.stable_offset == 0
        await writer.end(is_commit=False)
        await writer.begin()
        committed = await writer.write()
        await writer.end(is_commit=True)
        assert await stage.visible() == [committed]
        assert (await stage.visible(is_committed_only=False))[:3] == aborted

    played(story, THREE)


async def _first_answer(stage: Stage) -> Fetched:
    """What a reader of committed records gets from the leader, as soon as it gets something."""
    client = stage.client("first")
    while True:
        try:
            return await fetch(client, 0, 0, is_committed_only=True)
        except KafkaError:
            await client.back_off()


def test_a8_a_late_end_is_refused_to_a_producer_that_has_begun_anew() -> None:
    async def story(stage: Stage) -> None:
        writer = Transactor(stage, "writer")
        first = await writer.init()
        await writer.begin()
        await writer.write()
        # It does not know whether its EndTxn arrived. It did not: it comes later.
        await writer.init()
        await writer.begin()
        await writer.write()
        with pytest.raises(KafkaError) as refused:
            await writer.end(is_commit=True, identity=first)
        assert refused.value.code in FENCED
        await writer.end(is_commit=False)
        assert await stage.visible() == []

    played(story, ONE)


def test_a8_a_late_end_ends_the_next_transaction_of_one_that_went_on_as_with_kafka_3() -> None:
    """KAFKA-17754: without an epoch for each transaction nobody can tell the two apart."""

    async def story(stage: Stage) -> None:
        writer = Transactor(stage, "writer")
        await writer.init()
        await writer.begin()
        first = await writer.write()
        await writer.end(is_commit=True)
        await writer.begin()
        second = await writer.write()
        # The same request once more, from somewhere in the network.
        await writer.end(is_commit=True)
        assert await stage.visible() == [first, second]
        with pytest.raises(KafkaError) as refused:
            await writer.end(is_commit=False)
        assert refused.value.code is ErrorCode.INVALID_TXN_STATE, "its producer hears of it"

    played(story, ONE)


def test_a9_a_batch_that_comes_after_the_end_of_its_transaction_is_refused() -> None:
    async def story(stage: Stage) -> None:
        writer = Transactor(stage, "writer")
        await writer.init()
        await writer.begin()
        value = await writer.write()
        await writer.end(is_commit=True)
        assert await stage.visible() == [value]
        with pytest.raises(KafkaError) as refused:
            await writer.write(1)
        assert refused.value.code is ErrorCode.INVALID_TXN_STATE
        client = stage.client("reader")
        end = await fetch(client, 0, 0, is_committed_only=True)
        assert end.stable_offset == end.high_watermark == 2, "nothing hangs"

    played(story, ONE)


def test_a10_a_write_whose_answer_is_lost_is_there_once_when_it_is_sent_again() -> None:
    async def story(stage: Stage) -> None:
        client, leader = stage.client(), stage.state().leader
        batch = batch_of(client, ["v"], Producer(7, 0, 0))
        await client.find_leader(0)
        answers = stage.world.network.link(stage.brokers[leader].machine.name, "client")
        await produce(client, 0, batch_of(client, ["u"], Producer(8, 0, 0)))
        answers.cut()
        with pytest.raises(KafkaError) as unknown:
            await produce(client, 0, batch)
        assert unknown.value.code.is_retriable
        answers.mend()
        await client.back_off()
        assert await produce(client, 0, batch) == 1
        assert await stage.visible() == ["u", "v"]

    played(story, THREE)


@pytest.mark.parametrize("is_there", [True, False])
def test_a10_an_error_that_says_nothing_is_no_refusal(is_there: bool) -> None:
    history = History(writes=[Write("p", 0, ["p#0"])], is_complete=True)
    assert history.writes[0].outcome is Outcome.UNKNOWN
    history.final = history.final_committed = {0: [(0, "p#0")] if is_there else []}
    assert violations(history) == []


def test_a11_transactions_may_lie_between_each_other() -> None:
    async def story(stage: Stage) -> None:
        first, second = Transactor(stage, "first"), Transactor(stage, "second")
        for writer in (first, second):
            await writer.init()
            await writer.begin()
        values = [await writer.write(index) for index in range(3) for writer in (first, second)]
        await second.end(is_commit=True)
        await first.end(is_commit=True)
        assert await stage.visible() == values
        history = stage.history
        client = stage.client("auditor")
        history.final = {0: await read_all(client, 0, is_committed_only=False)}
        history.final_committed = {0: await read_all(client, 0, is_committed_only=True)}
        history.is_complete = True
        # Markers have offsets as well: what readers get has gaps.
        assert violations(history) == []

    played(story, ONE)


def test_a12_aborted_records_are_left_out_wherever_reading_begins() -> None:
    async def story(stage: Stage) -> None:
        writer = Transactor(stage, "writer")
        await writer.init()
        committed = []
        for number in range(24):
            await writer.begin()
            values = [await writer.write(index, padding="." * 1000) for index in range(2)]
            await writer.end(is_commit=number % 3 == 0)
            committed += values if number % 3 == 0 else []
        leader = stage.brokers[stage.state().leader].running
        assert leader is not None
        log = leader.broker.logs.get(TopicPartition(TOPIC, 0))
        assert log is not None
        assert len(list(log.segments)) > 2, "the list of aborted ones is in several files"
        offsets = dict(await read_all(stage.client("all"), 0, is_committed_only=False))
        for start in range(log.log_end_offset):
            found = await fetch(stage.client("reader"), 0, start, is_committed_only=True, wait_ms=1)
            expected = [
                (offset, value)
                for offset, value in offsets.items()
                if value in committed and start <= offset < found.next_offset
            ]
            assert found.records == expected

    played(story, ONE)


def test_a13_a_transaction_does_not_see_its_own_writes() -> None:
    async def story(stage: Stage) -> None:
        writer = Transactor(stage, "writer")
        await writer.init()
        await writer.begin()
        value = await writer.write()
        own = await fetch(writer.client, 0, 0, is_committed_only=True, wait_ms=100)
        assert (own.records, own.stable_offset, own.high_watermark) == ([], 0, 1)
        await writer.end(is_commit=True)
        assert await stage.visible() == [value]

    played(story, ONE)
