"""Keys go to the partitions that Kafka puts them in."""

import pytest

from moldau.coordinator.java_hash import java_hash, partition_of


@pytest.mark.parametrize(
    ("text", "value", "partition"),
    [
        ("test-group", 627841412, 12),
        ("my-txn-id", 1405732511, 11),
        ("a", 97, 47),
        ("😀", 1772899, 49),
        ("", 0, 0),
    ],
)
def test_it_is_what_java_computes(text: str, value: int, partition: int) -> None:
    assert java_hash(text) == value
    assert partition_of(text, 50) == partition


def test_a_hash_wraps_into_the_negative_numbers() -> None:
    assert java_hash("consumer-group-of-some-length") < 0
    assert 0 <= partition_of("consumer-group-of-some-length", 50) < 50


def test_the_number_without_an_absolute_value_goes_to_partition_0() -> None:
    assert java_hash("polygenelubricants") == -(2**31)
    assert partition_of("polygenelubricants", 50) == 0


def test_a_lone_surrogate_counts_like_any_other_unit() -> None:
    assert java_hash("\ud83d") == 0xD83D
