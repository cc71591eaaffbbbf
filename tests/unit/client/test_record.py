"""What clients hand out."""

import pickle

from moldau.client.record import ConsumerRecord, OffsetAndTimestamp, RecordMetadata
from moldau.model import TopicPartition


def test_the_place_of_a_record_has_names() -> None:
    place = RecordMetadata("orders", 1, 42, 1000)
    assert (place.topic, place.partition, place.offset, place.timestamp) == ("orders", 1, 42, 1000)


def test_a_record_knows_its_partition() -> None:
    record = ConsumerRecord("orders", 1, 42, 1000, b"k", b"v")
    assert record.topic_partition == TopicPartition("orders", 1)
    assert record.headers == ()


def test_records_are_equal_if_all_their_parts_are() -> None:
    one = ConsumerRecord("orders", 1, 42, 1000, b"k", b"v", (("h", None),))
    assert one == ConsumerRecord("orders", 1, 42, 1000, b"k", b"v", (("h", None),))
    assert one != ConsumerRecord("orders", 1, 42, 1000, b"k", b"w", (("h", None),))
    another: object = "orders"
    assert one != another
    assert len({one, ConsumerRecord("orders", 1, 42, 1000, b"k", b"v", (("h", None),))}) == 1


def test_records_can_be_sent_to_other_processes_and_shown() -> None:
    record = ConsumerRecord[bytes, bytes]("orders", 1, 42, 1000, b"k", b"v", (("h", None),))
    assert pickle.loads(pickle.dumps(record)) == record
    assert repr(record).startswith("ConsumerRecord(topic='orders', partition=1, offset=42,")


def test_an_offset_by_time_has_names() -> None:
    found = OffsetAndTimestamp(42, 1000)
    assert (found.offset, found.timestamp) == (42, 1000)
