"""A transaction that is left open, made by hand."""

from array import array

from moldau.client.admin.admin import Admin
from moldau.client.admin.transactions import FencedProducer, OpenTransaction
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

UNVERIFIED = {"transaction.partition.verification.enable": "false"}
"""Settings of a broker that takes what no coordinator knows."""


async def begin(
    admin: Admin, topic: str = "t", name: str = "id", *, is_known: bool = True
) -> OpenTransaction:
    """A transaction with one record in it, by hand; one that is not known hangs."""
    await admin.create_topics([topic])
    fenced = (await admin.fence_producers(name))[name]
    if is_known:
        await _add(admin, topic, name, fenced)
    rows = NewRecords(timestamps=memoryview(array("q", [1])), values=None, keys=None, headers=None)
    producer = Producer(fenced.producer_id, fenced.producer_epoch, 0)
    form = BatchForm(1000, attributes=TRANSACTIONAL, producer=producer)
    records = encode_columns(rows, form).data
    data = TopicProduceData(
        name=topic, partition_data=[PartitionProduceData(index=0, records=records)]
    )
    stored = await admin._lifetime.cluster.ask(
        0,
        ProduceRequest(transactional_id=name, acks=-1, timeout_ms=1000, topic_data=[data]),
        ProduceResponse,
    )
    assert stored.responses[0].partition_responses[0].error_code == 0
    partition = TopicPartition(topic, 0)
    return OpenTransaction(partition, fenced.producer_id, fenced.producer_epoch, 0)


async def _add(admin: Admin, topic: str, name: str, fenced: FencedProducer) -> None:
    broker = await admin._lifetime.cluster.broker(0)
    added = await broker.connection.ask(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=fenced.producer_id,
            v3_and_below_producer_epoch=fenced.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[0])],
        ),
        AddPartitionsToTxnResponse,
        3,
        timeout_s=10,
    )
    assert not added.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
