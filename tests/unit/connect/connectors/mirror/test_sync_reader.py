"""Offset syncs are taken in as they come, whoever has written them."""

import pytest

from moldau.client.blocking.producer import Producer
from moldau.connect.connectors.mirror.clusters import sync_consumer
from moldau.connect.connectors.mirror.layouts import OffsetSync
from moldau.connect.connectors.mirror.sync_reader import SyncReader
from moldau.testing.broker import EmbeddedBroker
from unit.connect.connectors.mirror.mirrored import place


def write(kafka: EmbeddedBroker, *syncs: OffsetSync) -> None:
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for each in syncs:
            producer.send("syncs", each.value(), key=each.key(), headers=each.headers())


def test_it_reads_to_the_end_each_time(
    old: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"source.cluster.bootstrap.servers": old.bootstrap_servers}
    reader = SyncReader(sync_consumer(settings), "syncs")
    reader.read_on()
    assert reader.translated(place("t"), 5) is None
    write(old, OffsetSync(place("t"), 9, 19, 10), OffsetSync(place("t", 1), 3, 3))
    with Producer[bytes, bytes](bootstrap_servers=old.bootstrap_servers) as producer:
        producer.send("syncs", b"none", key=b"none")
        producer.send("syncs", None, key=b"deleted")
    reader.read_on()
    assert [reader.translated(place("t"), each) for each in (4, 20)] == [14, 20]
    assert reader.translated(place("t", 1), 9) == 4
    assert "is no offset sync" in caplog.text
    write(old, OffsetSync(place("t"), 12, 30, 2))
    reader.read_on()
    assert [reader.translated(place("t"), each) for each in (4, 12, 20)] == [14, 30, 31]
    reader.close()
