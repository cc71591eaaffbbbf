"""Transactions as an administrator sees them."""

from array import array

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.transactions import OpenTransaction
from moldau.errors import TransactionalIdNotFound, UnknownTopicOrPartition
from moldau.model import TopicPartition
from moldau.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from moldau.records.batch import TRANSACTIONAL, Producer
from moldau.records.building import BatchForm, NewRecords, encode_columns
from moldau.testing.broker import EmbeddedBroker

T0 = TopicPartition("t", 0)


async def begin(admin: Admin) -> OpenTransaction:
    """A transaction with one record in it, by hand."""
    await admin.create_topics(["t"])
    fenced = (await admin.fence_producers("id"))["id"]
    topic = AddPartitionsToTxnTopic(name="t", partitions=[0])
    cluster = admin._lifetime.cluster
    broker = await cluster.broker(0)
    added = await broker.connection.ask(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="id",
            v3_and_below_producer_id=fenced.producer_id,
            v3_and_below_producer_epoch=fenced.producer_epoch,
            v3_and_below_topics=[topic],
        ),
        AddPartitionsToTxnResponse,
        3,
        timeout_s=10,
    )
    assert not added.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
    rows = NewRecords(timestamps=memoryview(array("q", [1])), values=None, keys=None, headers=None)
    producer = Producer(fenced.producer_id, fenced.producer_epoch, 0)
    form = BatchForm(1000, attributes=TRANSACTIONAL, producer=producer)
    records = encode_columns(rows, form).data
    data = TopicProduceData(
        name="t", partition_data=[PartitionProduceData(index=0, records=records)]
    )
    stored = await cluster.ask(
        0,
        ProduceRequest(transactional_id="id", acks=-1, timeout_ms=1000, topic_data=[data]),
        ProduceResponse,
    )
    assert stored.responses[0].partition_responses[0].error_code == 0
    return OpenTransaction(T0, fenced.producer_id, fenced.producer_epoch, 0)


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
