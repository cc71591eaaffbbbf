"""Senders: every request arrives, in order, and no broker waits for another."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from moldau.controller.cluster import ClusterPicture, LiveBroker
from moldau.controller.outbox import BrokerRequest, Outbox, Request
from moldau.controller.senders import Senders
from moldau.errors import ErrorCode
from moldau.protocol.messages.stop_replica import StopReplicaResponse


class Brokers:
    """Answers at once, but for those that are cut off or slow."""

    def __init__(self) -> None:
        self.arrived: list[int] = []
        self.cut_off: set[int] = set()
        self.slow: set[int] = set()
        self.answers: list[tuple[int, object]] = []
        self.attempts = 0
        self.errors: list[ErrorCode] = []

    async def send(self, broker_id: int, _request: Request) -> object:
        self.attempts += 1
        if broker_id in self.cut_off:
            raise ConnectionError("cut off")
        if broker_id in self.slow:
            await asyncio.Event().wait()
        if self.errors:
            return StopReplicaResponse(error_code=self.errors.pop(), partition_errors=[])
        self.arrived.append(broker_id)
        return f"from {broker_id}"

    def answered(self, request: BrokerRequest, answer: object) -> None:
        self.answers.append((request.broker_id, answer))


@asynccontextmanager
async def senders(*brokers: int) -> AsyncIterator[tuple[Brokers, Outbox, Senders]]:
    cluster = ClusterPicture(brokers={one: LiveBroker(one, 1, ()) for one in brokers})
    outbox = Outbox(cluster, controller_id=1, controller_epoch=1)
    world = Brokers()
    async with asyncio.TaskGroup() as tasks:
        made = Senders(tasks, outbox, world.send, answered=world.answered, retry_s=0)
        yield world, outbox, made
        made.stop()


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_requests_arrive_and_are_answered() -> None:
    async with senders(1, 2) as (brokers, outbox, made):
        outbox.add_live_brokers([1, 2])
        made.go()
        await settled()
        outbox.add_live_brokers([1])
        made.go()
        await settled()
        assert brokers.arrived == [1, 2, 1]
        assert brokers.answers[0] == (1, "from 1")


async def test_a_slow_broker_holds_up_nobody_else() -> None:
    async with senders(1, 2) as (brokers, outbox, made):
        brokers.slow = {1}
        outbox.add_live_brokers([1, 2])
        made.go()
        await settled()
        assert brokers.arrived == [2]


async def test_a_request_is_sent_until_it_is_answered(caplog: pytest.LogCaptureFixture) -> None:
    async with senders(1) as (brokers, outbox, made):
        brokers.cut_off = {1}
        outbox.add_live_brokers([1])
        made.go()
        await settled()
        assert brokers.attempts > 2
        assert caplog.messages == ["Failed to send UpdateMetadata to broker 1: cut off"]
        brokers.cut_off = set()
        await settled()
        assert brokers.arrived == [1]


async def test_nothing_more_is_sent_to_a_broker_that_is_gone() -> None:
    async with senders(1) as (brokers, outbox, made):
        brokers.cut_off = {1}
        outbox.add_live_brokers([1])
        made.go()
        await settled()
        made.forget([1, 7])
        attempts = brokers.attempts
        await settled()
        assert brokers.attempts == attempts
        outbox.add_live_brokers([1])
        brokers.cut_off = set()
        made.go()
        await settled()
        assert brokers.arrived == [1]


async def test_a_controller_that_has_to_go_can_wait_until_all_is_sent() -> None:
    async with senders(1, 2) as (brokers, outbox, made):
        outbox.add_live_brokers([1, 2])
        made.go()
        assert await made.until_idle(timeout_s=5)
        assert sorted(brokers.arrived) == [1, 2]
        brokers.slow = {1}
        outbox.add_live_brokers([1])
        made.go()
        assert not await made.until_idle(timeout_s=0.01)


async def test_a_broker_that_could_not_take_a_request_gets_it_again() -> None:
    async with senders(1) as (brokers, outbox, made):
        brokers.errors = [ErrorCode.REQUEST_TIMED_OUT] * 7
        outbox.add_live_brokers([1])
        made.go()
        await settled()
        assert brokers.arrived == [1]
        assert len(brokers.answers) == 1


async def test_a_broker_that_fails_at_a_request_is_given_up_on_after_a_while() -> None:
    async with senders(1) as (brokers, outbox, made):
        brokers.errors = [ErrorCode.UNKNOWN_SERVER_ERROR] * 6
        outbox.add_live_brokers([1])
        made.go()
        await settled()
        ((_, answer),) = brokers.answers
        assert isinstance(answer, StopReplicaResponse)
        assert brokers.arrived == []
