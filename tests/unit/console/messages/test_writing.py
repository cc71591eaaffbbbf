"""Tables are written as records, by key or to the partitions they come from."""

import pyarrow as pa

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.partitioner import partition_of_key
from moldau.client.producer.producer import Producer
from moldau.console.messages.uploads import SCHEMA
from moldau.console.messages.writing import WritingRules, write_table
from moldau.testing.broker import EmbeddedBroker

ROWS = [
    {"key": b"a", "value": b"1", "partition": 1, "timestamp": 5, "headers": []},
    {"key": b"b", "value": None, "partition": 2, "timestamp": 6, "headers": [("h", b"x")]},
]


async def test_partition_and_time_are_kept_if_that_is_wanted(broker: EmbeddedBroker) -> None:
    settings = {"bootstrap.servers": broker.bootstrap_servers}
    table = pa.Table.from_pylist(ROWS, SCHEMA)
    kept = {"retention.ms": "-1"}
    async with Admin(settings) as admin:
        topics = [NewTopic("by-key", 3, configs=kept), NewTopic("as-was", 3, configs=kept)]
        (await admin.create_topics(topics)).check()
    async with Producer[bytes, bytes](settings) as producer:
        assert await write_table(producer, "by-key", table, WritingRules()) == 2
        rules = WritingRules(keeps_partition=True, keeps_time=True)
        assert await write_table(producer, "as-was", table, rules) == 2
    found = broker.wait_for_records("as-was", 2)
    assert [(each.value, each.timestamp) for each in found[1]] == [(b"1", 5)]
    assert [(each.value, [*each.headers]) for each in found[2]] == [(None, [(b"h", b"x")])]
    by_key = broker.wait_for_records("by-key", 2)
    (first,) = [each for each in by_key[partition_of_key(b"a", [0, 1, 2])] if each.key == b"a"]
    assert first.timestamp > 5
