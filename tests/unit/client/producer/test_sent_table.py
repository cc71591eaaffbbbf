"""A table is sent when all its batches are."""

import asyncio
import threading

import pytest

from moldau.client.producer.batches import Batch
from moldau.client.producer.sent_table import SentTable
from moldau.errors import ErrorCode, KafkaError, NetworkException
from moldau.model import NO_TIMESTAMP
from unit.client.producer.test_batches import batch

LOST = KafkaError(ErrorCode.NETWORK_EXCEPTION)


@pytest.fixture
def batches() -> list[Batch]:
    return [batch(4), batch(2)]


@pytest.fixture
def sent(batches: list[Batch]) -> SentTable:
    made = SentTable()
    for each in batches:
        made.add(each)
    return made


def test_it_is_done_when_the_last_batch_is(sent: SentTable, batches: list[Batch]) -> None:
    assert sent.row_count == 6
    batches[1].deliver(4, NO_TIMESTAMP)
    assert not sent.done()
    batches[0].deliver(0, NO_TIMESTAMP)
    assert sent.done()
    assert sent.result() == 6


def test_batches_may_be_split_while_somebody_waits(sent: SentTable, batches: list[Batch]) -> None:
    def settle() -> None:
        batches[1].deliver(4, NO_TIMESTAMP)
        first, second = batches[0].split()
        first.deliver(0, NO_TIMESTAMP)
        assert not sent.done()
        second.deliver(2, NO_TIMESTAMP)

    threading.Timer(0.01, settle).start()
    assert sent.result(10) == 6


async def test_it_can_be_awaited_and_tells_of_failures(
    sent: SentTable, batches: list[Batch]
) -> None:
    async def wait() -> int:
        return await sent

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0)
    batches[0].deliver(0, NO_TIMESTAMP)
    batches[1].fail(LOST)
    with pytest.raises(NetworkException):
        await waiting
    with pytest.raises(NetworkException):
        sent.result()
    assert sent.done()
