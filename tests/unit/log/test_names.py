"""File and directory names are Kafka's."""

import pytest

from moldau.log import names
from moldau.model import TopicPartition


def test_a_segment_is_named_by_its_base_offset_in_twenty_digits() -> None:
    assert names.segment_file(42, names.LOG) == "00000000000000000042.log"
    assert names.offset_of("00000000000000000042.log") == 42
    assert names.offset_of("00000000000000000042.index.deleted") == 42


@pytest.mark.parametrize(
    "name", ["", "42.log", "leader-epoch-checkpoint", "0000000000000000004x.log"]
)
def test_other_files_have_no_offset(name: str) -> None:
    assert names.offset_of(name) is None


@pytest.mark.parametrize(
    ("name", "partition"),
    [
        ("orders-3", TopicPartition("orders", 3)),
        ("my-orders.v1-12", TopicPartition("my-orders.v1", 12)),
        ("orders", None),
        ("-3", None),
        ("orders-x", None),
        ("orders-03", None),
        ("orders-3.0123456789abcdef0123456789abcdef-delete", None),
        ("orders-3.0123456789abcdef0123456789abcdef-future", None),
    ],
)
def test_a_partition_is_told_by_the_name_of_its_directory(
    name: str, partition: TopicPartition | None
) -> None:
    assert names.partition_of(name) == partition


def test_a_directory_on_its_way_out_fits_the_file_system() -> None:
    unique = "0123456789abcdef" * 2
    assert names.doomed_directory(TopicPartition("a", 1), unique) == f"a-1.{unique}-delete"
    long = names.doomed_directory(TopicPartition("t" * 249, 12), unique)
    assert len(long) == 255
    assert long.endswith(f"t-12.{unique}-delete")


def test_the_directory_of_a_copy_tells_its_partition() -> None:
    unique = "0123456789abcdef" * 2
    name = names.future_directory(TopicPartition("a.b", 1), unique)
    assert name == f"a.b-1.{unique}-future"
    assert names.future_partition_of(name) == TopicPartition("a.b", 1)


def test_a_cut_name_does_not_tell_the_partition_of_a_copy() -> None:
    name = names.future_directory(TopicPartition("t" * 249, 1), "0123456789abcdef" * 2)
    assert names.future_partition_of(name) is None
    assert names.future_partition_of("nonsense-future") is None
