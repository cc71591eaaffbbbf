"""Transactions as an administrator sees them."""

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.transactions import OpenTransaction
from moldau.errors import TransactionalIdNotFound, UnknownTopicOrPartition
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.client.admin.open_transactions import begin

T0 = TopicPartition("t", 0)


async def test_a_transaction_is_listed_and_described(admin: Admin) -> None:
    opened = await begin(admin)
    (listed,) = await admin.list_transactions()
    assert (listed.transactional_id, listed.state) == ("id", "Ongoing")
    assert await admin.list_transactions(states=["Empty"]) == []
    assert await admin.list_transactions(producer_ids=[opened.producer_id + 1]) == []
    assert await admin.list_transactions(duration_min_ms=3_600_000) == []
    described = (await admin.describe_transactions(["id", "x"])).succeeded["id"]
    assert (described.state, described.partitions) == ("Ongoing", [T0])
    assert described.start_ms is not None
    with pytest.raises(TransactionalIdNotFound):
        (await admin.describe_transactions("x")).check()


async def test_a_transaction_that_nobody_ends_is_aborted(
    admin: Admin, kafka: EmbeddedBroker
) -> None:
    opened = await begin(admin)
    (state,) = (await admin.describe_producers([T0]))[T0]
    assert (state.producer_id, state.transaction_start_offset) == (opened.producer_id, 0)
    await admin.abort_transaction(opened)
    (state,) = (await admin.describe_producers([T0]))[T0]
    assert state.transaction_start_offset is None
    assert state.coordinator_epoch == 0
    with pytest.raises(UnknownTopicOrPartition):
        await admin.abort_transaction(OpenTransaction(TopicPartition("x", 0), 1, 0, 0))
    assert kafka.records("t")[0][0].value is None


async def test_fencing_takes_the_next_epoch(admin: Admin) -> None:
    first = (await admin.fence_producers("id"))["id"]
    second = (await admin.fence_producers("id"))["id"]
    assert second.producer_epoch == first.producer_epoch + 1
