"""Heartbeats go on whatever the user's listeners do."""

import asyncio
import threading
from collections.abc import Mapping

import pytest

from moldau.client import blocking
from moldau.client.consumer.consumer import Consumer
from moldau.client.group.steady import SteadyHolder
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Call
from unit.client.group.members import QUICK_GROUPS, member_of

T0 = TopicPartition("t", 0)


class SlowHolder:
    """Waits until it is let go on."""

    def __init__(self) -> None:
        self.may_go_on = asyncio.Event()
        self.told: list[str] = []

    def held(self) -> list[TopicPartition]:
        return [T0]

    async def commit(self) -> None:
        self.told.append("commit")

    async def give_back(self, partitions: list[TopicPartition]) -> None:
        await self.may_go_on.wait()
        self.told.append(f"-{len(partitions)}")

    async def lose(self, partitions: list[TopicPartition]) -> None:
        await self.may_go_on.wait()
        self.told.append(f"!{len(partitions)}")

    async def receive(self, partitions: list[TopicPartition]) -> None:
        await self.may_go_on.wait()
        self.told.append(f"+{len(partitions)}")

    def failed(self, error: KafkaError) -> None:
        self.told.append(str(error))


class Beats:
    """Lets the holder go on after some heartbeats, which all fail."""

    def __init__(self, holder: SlowHolder, enough: int) -> None:
        self._holder = holder
        self._enough = enough
        self.count = 0

    async def beat(self) -> None:
        self.count += 1
        if self.count >= self._enough:
            self._holder.may_go_on.set()
        raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS, "the group goes on")


def steady(holder: SlowHolder, beats: Beats, limit_s: float = 60.0) -> SteadyHolder:
    return SteadyHolder(holder, beats.beat, interval_s=lambda: 0.001, limit_s=limit_s)


async def test_it_beats_until_the_holder_is_done() -> None:
    holder = SlowHolder()
    beats = Beats(holder, 5)
    await steady(holder, beats).receive([T0])
    assert holder.told == ["+1"]
    assert beats.count >= 5


async def test_what_takes_no_time_needs_no_beat() -> None:
    holder = SlowHolder()
    holder.may_go_on.set()
    beats = Beats(holder, 1)
    watched = SteadyHolder(holder, beats.beat, interval_s=lambda: 60.0, limit_s=60.0)
    await watched.give_back([T0])
    await watched.commit()
    assert holder.told == ["-1", "commit"]
    assert watched.held() == [T0]
    assert beats.count == 0


async def test_after_the_limit_there_are_no_more_beats() -> None:
    holder = SlowHolder()
    beats = Beats(holder, 10_000)
    giving_back = asyncio.create_task(steady(holder, beats, limit_s=0.0).give_back([T0]))
    await asyncio.wait([giving_back], timeout=0.02)
    holder.may_go_on.set()
    await giving_back
    assert holder.told == ["-1"]
    assert beats.count == 0


async def test_whoever_is_cancelled_leaves_nothing_running() -> None:
    holder = SlowHolder()
    giving_back = asyncio.create_task(steady(holder, Beats(holder, 10_000)).give_back([T0]))
    await asyncio.wait([giving_back], timeout=0.02)
    giving_back.cancel()
    with pytest.raises(asyncio.CancelledError):
        await giving_back
    holder.may_go_on.set()
    await asyncio.sleep(0)
    assert holder.told == []


class Heart:
    """Counts the heartbeats of a broker's members, and waits for many of them."""

    def __init__(self, kafka: EmbeddedBroker) -> None:
        self._beats = 0
        self._changed = threading.Condition()
        for api in ("Heartbeat", "ConsumerGroupHeartbeat"):
            kafka.control(api, self._count)

    def _count(self, _call: Call) -> None:
        with self._changed:
            self._beats += 1
            self._changed.notify_all()

    def wait_for(self, count: int) -> None:
        with self._changed:
            start = self._beats
            assert self._changed.wait_for(lambda: self._beats >= start + count, 30)


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {
        **QUICK_GROUPS,
        "group.coordinator.rebalance.protocols": "classic,consumer",
        "group.consumer.min.heartbeat.interval.ms": "50",
        "group.consumer.heartbeat.interval.ms": "50",
        "group.consumer.min.session.timeout.ms": "500",
        "group.consumer.session.timeout.ms": "500",
    }


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_listener_may_block_for_longer_than_a_session_lasts(
    kafka: EmbeddedBroker, protocol: str
) -> None:
    """Of 500 ms, with a beat each 50 ms: after 14 beats a member without any would be gone."""
    heart = Heart(kafka)
    heard: list[str] = []

    def block(partitions: list[TopicPartition]) -> None:
        heart.wait_for(14)
        heard.append(f"{len(partitions)}")

    with blocking.Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers,
        group_id="g",
        group_protocol=protocol,
        session_timeout_ms=500,
        heartbeat_interval_ms=50,
    ) as member:
        member.partitions_of("t")
        member.subscribe(["t"], on_assigned=block, on_revoked=block)
        while heard != ["3"]:
            member.poll(0.05)
        before = member.group_metadata()
        heart.wait_for(3)
        assert member.group_metadata() == before  # it was never thrown out
        assert len(member.assignment()) == 3
    assert heard == ["3", "3"]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_a_plain_listener_may_block_in_asyncio_code_too(
    kafka: EmbeddedBroker, protocol: str
) -> None:
    heart = Heart(kafka)
    heard: list[str] = []

    def block(partitions: list[TopicPartition]) -> None:
        heart.wait_for(14)
        heard.append(f"{len(partitions)}")

    sessions = {"session_timeout_ms": 500, "heartbeat_interval_ms": 50}
    async with member_of(kafka, group_protocol=protocol, **sessions) as member:
        await member.partitions_of("t")
        member.subscribe(["t"], on_assigned=block, on_revoked=block)
        while heard != ["3"]:
            await member.poll(0.05)
        before = member.group_metadata()
        await asyncio.to_thread(heart.wait_for, 3)
        await member.poll()
        assert member.group_metadata() == before
    assert heard == ["3", "3"]


async def test_a_listener_for_metrics_may_block(kafka: EmbeddedBroker) -> None:
    heart = Heart(kafka)
    told = threading.Event()

    def block(_metrics: Mapping[str, float]) -> None:
        heart.wait_for(14)
        told.set()

    async with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers,
        group_id="g",
        session_timeout_ms=500,
        heartbeat_interval_ms=50,
        metrics_sample_window_ms=1,
        on_metrics=block,
    ) as member:
        member.subscribe(["t"])
        while not told.is_set():
            await member.poll(0.05)
        assert len(member.assignment()) == 3


async def test_a_plain_listener_is_told_that_it_cannot_use_the_consumer(
    kafka: EmbeddedBroker,
) -> None:
    said: list[str] = []

    def seek(partitions: list[TopicPartition]) -> None:
        try:
            member.seek(partitions[0], 0)
        except RuntimeError as error:
            said.append(str(error))

    async with member_of(kafka) as member:
        member.subscribe(["t"], on_assigned=seek)
        while not said:
            await member.poll(0.01)
    assert "make the listener an `async def`" in said[0]
