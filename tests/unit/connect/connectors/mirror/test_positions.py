"""Where reading goes on, by what is stored and by what the source still has."""

import pytest

from moldau.connect.connectors.mirror.positions import (
    Beginning,
    beginning,
    last_read,
    named,
    place_of,
)
from moldau.connect.errors import ConnectError
from moldau.model import TopicPartition

PLACE = TopicPartition("t", 3)


def test_partitions_are_named_as_mirror_maker_names_them() -> None:
    partition = named("old", PLACE)
    assert list(partition.items()) == [("cluster", "old"), ("partition", 3), ("topic", "t")]
    assert place_of(partition) == PLACE


@pytest.mark.parametrize("change", [{"topic": 1}, {"cluster": None}, {"partition": "3"},
                                    {"partition": True}, {"partition": -1}])  # fmt: skip
def test_what_names_no_partition_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ConnectError, match="Source partition"):
        place_of({**named("old", PLACE), **change})


def test_the_offset_is_that_of_the_last_record() -> None:
    assert [last_read(None), last_read({"offset": 5}), last_read({"offset": -1})] == [None, 5, -1]
    for wrong in ({}, {"offset": "5"}, {"offset": -2}, {"offset": True}):
        with pytest.raises(ConnectError, match="has no number 'offset'"):
            last_read(wrong)


def test_it_goes_on_after_the_last_record() -> None:
    assert beginning(PLACE, None, 4, 9) == Beginning(4)
    assert beginning(PLACE, 3, 4, 9) == Beginning(4)
    assert beginning(PLACE, 8, 4, 9) == Beginning(9)


def test_gone_offsets_are_counted() -> None:
    found = beginning(PLACE, 1, 4, 9)
    assert (found.offset, found.skipped) == (4, 2)
    assert "t-3: 2 offsets from 2 on were deleted" in str(found.problem)


def test_a_shorter_log_is_another_one() -> None:
    found = beginning(PLACE, 9, 4, 9)
    assert (found.offset, found.skipped) == (4, 0)
    assert "ends at 9, before the offset 10" in str(found.problem)
