"""The names of things."""

from moldau.model import TopicPartition


def test_a_partition_prints_as_kafka_names_its_folder() -> None:
    assert str(TopicPartition("orders.by-day", 3)) == "orders.by-day-3"


def test_partitions_of_one_topic_sort_by_number() -> None:
    partitions = [TopicPartition("orders", number) for number in (10, 9)]
    assert sorted(partitions) == [TopicPartition("orders", 9), TopicPartition("orders", 10)]
