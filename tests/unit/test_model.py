"""The names of things."""

import pytest

from moldau.model import TopicPartition, format_uuid, parse_uuid


def test_a_partition_prints_as_kafka_names_its_folder() -> None:
    assert str(TopicPartition("orders.by-day", 3)) == "orders.by-day-3"


def test_partitions_of_one_topic_sort_by_number() -> None:
    partitions = [TopicPartition("orders", number) for number in (10, 9)]
    assert sorted(partitions) == [TopicPartition("orders", 9), TopicPartition("orders", 10)]


def test_ids_are_written_as_kafka_writes_them() -> None:
    uuid = bytes.fromhex("d9b999b90a2a4e05ad9199642220d31e")
    assert format_uuid(uuid) == "2bmZuQoqTgWtkZlkIiDTHg"
    assert parse_uuid("2bmZuQoqTgWtkZlkIiDTHg") == uuid


@pytest.mark.parametrize(
    "text", ["", "AAAA", "2bmZuQoqTgWtkZlkIiDT*g", "2bmZuQoqTgWtkZlkIiDTHgAA", "ä"]
)
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an id"):
        parse_uuid(text)
