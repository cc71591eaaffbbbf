"""Lists of partitions."""

from moldau.coordination.layout.partitions import (
    ISR_CHANGE_PREFIX,
    decode_partitions,
    decode_reassignment,
    delete_topic_path,
    encode_partitions,
    encode_reassignment,
)
from moldau.model import TopicPartition
from unit.coordination.layout.conftest import Nodes

_PARTITION = TopicPartition("T", 0)


def test_partitions_are_listed_as_apache_kafka_lists_them(apache: Nodes) -> None:
    assert encode_partitions([_PARTITION]) == apache["isr-change"] == apache["preferred"]
    assert decode_partitions(apache["isr-change"]) == [_PARTITION]


def test_a_reassignment_is_written_as_apache_kafka_writes_it(apache: Nodes) -> None:
    assert encode_reassignment({_PARTITION: (1, 2)}) == apache["reassign"]
    assert decode_reassignment(apache["reassign"]) == {_PARTITION: (1, 2)}


def test_paths_are_those_of_apache_kafka(apache: Nodes) -> None:
    assert f"{ISR_CHANGE_PREFIX}0000000003".encode() == apache["isr-path"]
    assert delete_topic_path("T") == "/admin/delete_topics/T"
