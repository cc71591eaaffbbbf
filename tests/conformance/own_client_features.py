"""What our clients can do, one feature after the other, with whichever broker is there."""

import asyncio

import pyarrow as pa
import pytest

from moldau import Admin, Consumer, read_topic
from moldau.client import blocking
from moldau.client.admin.quotas import USER, QuotaEntity
from moldau.client.admin.topics import NewTopic
from moldau.errors import ElectionNotNeeded, NoReassignmentInProgress
from moldau.model import TopicPartition
from moldau.security.acls import Acl, AclFilter, Operation, ResourceType

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
ROWS, TABLE_ROWS = 20, 30


def rows_and_columns(bootstrap: str) -> None:
    """In blocking form: rows and tables in every codec, read as rows and as columns."""
    with blocking.Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topics([NewTopic(f"codec-{codec}", 1, 1) for codec in CODECS]).check()
    for codec in CODECS:
        topic = f"codec-{codec}"
        rows = [b"row %d %s" % (number, b"x" * 100) for number in range(ROWS)]
        table = pa.table({"value": [f"of a table {number}" for number in range(TABLE_ROWS)]})
        with blocking.Producer[bytes, bytes](
            bootstrap_servers=bootstrap, compression_type=codec, linger_ms=5
        ) as producer:
            receipts = [producer.send(topic, row, partition=0) for row in rows]
            assert [receipt.result(60).offset for receipt in receipts] == list(range(ROWS))
            producer.send_table(topic, table, partition=0).result(60)
        expected = rows + [each.encode() for each in table["value"].to_pylist()]
        with blocking.Consumer[bytes, bytes](
            bootstrap_servers=bootstrap, group_id=topic, auto_offset_reset="earliest"
        ) as consumer:
            consumer.subscribe([topic])
            reading = iter(consumer)
            assert [next(reading).value for _ in expected] == expected
            consumer.commit()
            place = TopicPartition(topic, 0)
            assert consumer.committed([place]) == {place: len(expected)}
        columns = read_topic(topic, bootstrap_servers=bootstrap)
        assert columns["value"].to_pylist() == expected


async def access_rules(admin: Admin) -> None:
    """Of a broker with an authorizer; what is said may reach whoever is asked a little later."""
    rule = Acl(
        resource_type=ResourceType.TOPIC,
        resource_name="orders",
        principal="User:anna",
        operation=Operation.READ,
    )
    (await admin.create_acls([rule])).check()
    of_anna = AclFilter(principal="User:anna")
    async with asyncio.timeout(60):
        while await admin.describe_acls(of_anna) != [rule]:
            continue
        assert (await admin.delete_acls([of_anna]))[of_anna] == [rule]
        while await admin.describe_acls(of_anna):
            continue


async def quotas(admin: Admin) -> None:
    """Given and taken away."""
    anna: QuotaEntity = ((USER, "anna"),)
    (await admin.alter_client_quotas({anna: {"producer_byte_rate": 1024.0}})).check()
    async with asyncio.timeout(60):
        while await admin.describe_client_quotas() != {anna: {"producer_byte_rate": 1024.0}}:
            continue
        (await admin.alter_client_quotas({anna: {"producer_byte_rate": None}})).check()
        while await admin.describe_client_quotas():
            continue


async def moves_and_elections(admin: Admin) -> None:
    """Of a cluster of one, where there is nothing to move and nobody else to elect."""
    (await admin.create_topics([NewTopic("moved", 1, 1)])).check()
    partition = TopicPartition("moved", 0)
    (node,) = (await admin.describe_cluster()).brokers
    (await admin.alter_partition_reassignments({partition: [node.node_id]})).check()
    with pytest.raises(NoReassignmentInProgress):
        (await admin.alter_partition_reassignments({partition: None})).check()
    assert await admin.list_partition_reassignments() == {}
    with pytest.raises(ElectionNotNeeded):
        (await admin.elect_leaders([partition])).check()


async def directories(admin: Admin, partition: TopicPartition) -> None:
    """Where a partition lies, and how large it is."""
    (node,) = (await admin.describe_cluster()).brokers
    found = (await admin.describe_log_dirs(partitions=[partition]))[node.node_id]
    assert sum(each.replicas[partition].size_bytes for each in found.values()) > 0


async def static_member(bootstrap: str, topic: str, protocol: str) -> None:
    """A member whose place is kept while it is away."""
    group = f"static-{protocol}"
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "group.protocol": protocol,
        "group.instance.id": "clerk",
        "auto.offset.reset": "earliest",
        "retry.backoff.ms": 20,
    }
    held: list[list[TopicPartition]] = []
    async with asyncio.timeout(60), Admin(bootstrap_servers=bootstrap) as admin:
        for _ in range(2):
            async with Consumer[bytes, bytes](settings) as consumer:
                consumer.subscribe([topic])
                while not consumer.assignment():
                    await consumer.poll(0.05)
                held.append(consumer.assignment())
            (member,) = (await admin.describe_groups(group))[group].members  # while it is away
            assert member.instance_id == "clerk"
    assert held[0] == held[1] == [TopicPartition(topic, 0)]
