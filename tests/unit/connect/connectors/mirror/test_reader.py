"""Partitions of the source are read on; what is missing there is said, and never passed over."""

import logging
from collections.abc import Mapping

import pyarrow as pa
import pytest

from moldau.client.blocking.admin import Admin
from moldau.connect.connectors.mirror.clusters import source_consumer
from moldau.connect.connectors.mirror.reader import MirrorReader
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.connect.connectors.mirror.mirrored import create, place, texts, write


def reader(
    old: EmbeddedBroker, starts: Mapping[TopicPartition, int | None], first: str = "earliest"
) -> MirrorReader:
    settings = {"source.cluster.bootstrap.servers": old.bootstrap_servers}
    return MirrorReader(source_consumer(settings), starts, first)


def values(found: MirrorReader, count: int) -> list[bytes]:
    """So many, from all partitions, in the order of these."""
    tables: dict[TopicPartition, list[pa.Table]] = {}
    while sum(each.num_rows for listed in tables.values() for each in listed) < count:
        for at, table in found.poll(0.2).items():
            tables.setdefault(at, []).append(table)
    return [
        value
        for _, listed in sorted(tables.items())
        for table in listed
        for value in table.column("value").to_pylist()
    ]


def delete_before(old: EmbeddedBroker, topic: str, offset: int) -> None:
    with Admin(bootstrap_servers=old.bootstrap_servers) as admin:
        admin.delete_records({place(topic): offset}).check()


def test_each_partition_goes_on_after_its_last_record(old: EmbeddedBroker) -> None:
    create(old, "read", 3)
    for partition in range(3):
        write(old, "read", [f"{partition}-{number}" for number in range(3)], partition)
    found = reader(old, {place("read", 0): None, place("read", 1): 1, place("read", 2): 2})
    assert values(found, 4) == [b"0-0", b"0-1", b"0-2", b"1-2"]
    assert [found.last(place("read", each)) for each in range(3)] == [2, 2, 2]
    assert not found.is_behind()
    assert found.lags() == {"read": 0}
    write(old, "read", ["more"], 2)
    assert values(found, 1) == [b"more"]
    found.close()


def test_what_retention_has_deleted_first_is_counted_and_named(
    old: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    write(old, "late", range(10))
    delete_before(old, "late", 7)
    with caplog.at_level(logging.WARNING):
        found = reader(old, {place("late"): 2})
    assert values(found, 3) == texts([7, 8, 9])
    assert found.skipped == 4
    assert "4 offsets from 3 on were deleted in the source before they were copied" in caplog.text
    found.close()
    fresh = reader(old, {place("late"): None})
    assert (values(fresh, 3), fresh.skipped) == (texts([7, 8, 9]), 0)
    fresh.close()


def test_retention_may_overtake_while_it_reads(
    old: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    write(old, "overtaken", range(3))
    found = reader(old, {place("overtaken"): None})
    assert values(found, 3) == texts(range(3))
    found._consumer.pause(place("overtaken"))  # as if it were slow
    write(old, "overtaken", range(3, 9))
    delete_before(old, "overtaken", 8)
    found._consumer.seek(place("overtaken"), 3)  # what was fetched ahead is not there
    found._consumer.resume(place("overtaken"))
    with caplog.at_level(logging.WARNING):
        assert values(found, 1) == [b"8"]
    assert found.skipped == 5
    assert "5 offsets from 3 on were deleted" in caplog.text
    found.close()


def test_a_topic_that_was_made_anew_is_read_from_its_beginning(
    old: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    write(old, "anew", ["a", "b"])
    with caplog.at_level(logging.WARNING):
        found = reader(old, {place("anew"): 99})
    assert values(found, 2) == [b"a", b"b"]
    assert "ends at 2, before the offset 100" in caplog.text
    assert "the topic was made anew" in caplog.text
    found.close()


def test_it_can_begin_at_the_end(old: EmbeddedBroker) -> None:
    write(old, "end", range(5))
    found = reader(old, {place("end"): None}, "latest")
    assert found.last(place("end")) == 4
    write(old, "end", [5])
    assert values(found, 1) == [b"5"]
    found.close()
