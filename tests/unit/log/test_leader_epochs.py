"""Where each leader began, and where a follower must cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.log.checkpoint import CheckpointError
from moldau.log.leader_epochs import UNKNOWN_EPOCH, EpochEnd, EpochStart, LeaderEpochs
from moldau.testing.disk import MemoryDisk

PATH = "/p/leader-epoch-checkpoint"


def empty_disk() -> MemoryDisk:
    disk = MemoryDisk()
    disk.make_directory("/p")
    disk.sync_directory("/")
    return disk


def epochs_of(*starts: tuple[int, int]) -> LeaderEpochs:
    epochs = LeaderEpochs(empty_disk(), PATH)
    for epoch, start_offset in starts:
        epochs.assign(epoch, start_offset)
    return epochs


def test_the_file_is_kafkas() -> None:
    disk = empty_disk()
    epochs = LeaderEpochs(disk, PATH)
    epochs.assign(0, 0)
    epochs.assign(3, 17)
    epochs.write()

    assert disk.read_file(PATH) == b"0\n2\n0 0\n3 17\n"
    assert list(LeaderEpochs.load(disk, PATH)) == [(0, 0), (3, 17)]


def test_without_a_file_there_are_no_epochs() -> None:
    epochs = LeaderEpochs.load(empty_disk(), PATH)

    assert len(epochs) == 0
    assert epochs.latest is None
    assert epochs.earliest is None
    assert epochs.end_offset_for(0, 10) == UNKNOWN_EPOCH
    assert epochs.epoch_at(0) is None


@pytest.mark.parametrize("text", [b"0\n1\n1\n", b"0\n2\n1 0\n1 5\n", b"0\n2\n1 5\n2 5\n", b"x"])
def test_a_malformed_or_disordered_file_is_refused(text: bytes) -> None:
    disk = empty_disk()
    disk.open_append(PATH).append(text)

    with pytest.raises(CheckpointError):
        LeaderEpochs.load(disk, PATH)


def test_later_batches_of_an_epoch_do_not_write() -> None:
    disk = empty_disk()
    epochs = LeaderEpochs(disk, PATH)
    epochs.assign(1, 10)
    calls = len(disk.calls)

    epochs.assign(1, 10)
    epochs.assign(1, 20)

    assert len(disk.calls) == calls
    assert list(epochs) == [(1, 10)]


def test_an_epoch_without_data_gives_way_to_the_next() -> None:
    assert list(epochs_of((0, 0), (1, 10), (2, 10))) == [(0, 0), (2, 10)]


def test_an_older_epoch_takes_the_place_of_newer_ones() -> None:
    assert list(epochs_of((0, 0), (4, 10), (5, 20), (2, 15))) == [(0, 0), (2, 15)]


def test_an_epoch_that_turns_out_to_begin_earlier_is_moved() -> None:
    assert list(epochs_of((0, 0), (4, 10), (4, 5))) == [(0, 0), (4, 5)]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (-1, UNKNOWN_EPOCH),
        (1, EpochEnd(1, 10)),  # older than all: ended where our first begins
        (2, EpochEnd(2, 20)),
        (3, EpochEnd(2, 20)),  # a gap: the largest that is not newer
        (4, EpochEnd(4, 30)),
        (7, EpochEnd(7, 99)),  # the latest ends at the log's end
        (8, UNKNOWN_EPOCH),
    ],
)
def test_where_an_epoch_ended(asked: int, answer: EpochEnd) -> None:
    assert epochs_of((2, 10), (4, 20), (7, 30)).end_offset_for(asked, 99) == answer


def test_the_epoch_of_an_offset() -> None:
    epochs = epochs_of((2, 10), (4, 20))

    assert [epochs.epoch_at(offset) for offset in (9, 10, 19, 20, 1000)] == [None, 2, 2, 4, 4]
    assert [epochs.previous_epoch(epoch) for epoch in (2, 3, 4, 9)] == [None, 2, 2, 4]


def test_cutting_the_end_forgets_epochs_that_begin_there() -> None:
    epochs = epochs_of((0, 0), (1, 10), (2, 20))

    epochs.truncate_from_end(20)
    assert list(epochs) == [(0, 0), (1, 10)]
    epochs.truncate_from_end(11)
    assert list(epochs) == [(0, 0), (1, 10)]
    epochs.truncate_from_end(0)
    assert list(epochs) == []


def test_cutting_the_start_moves_the_epoch_it_falls_into() -> None:
    epochs = epochs_of((0, 0), (1, 10), (2, 20))

    epochs.truncate_from_start(15)
    assert list(epochs) == [(1, 15), (2, 20)]
    epochs.truncate_from_start(15)
    assert list(epochs) == [(1, 15), (2, 20)]
    epochs.truncate_from_start(20)
    assert list(epochs) == [(2, 20)]
    epochs.truncate_from_start(5)
    assert list(epochs) == [(2, 20)]
    assert epochs.earliest == EpochStart(2, 20)


def test_nothing_is_left_after_clearing() -> None:
    disk = empty_disk()
    epochs = LeaderEpochs(disk, PATH)
    epochs.assign(1, 0)
    epochs.write()
    epochs.clear()
    epochs.write()

    assert list(LeaderEpochs.load(disk, PATH)) == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["assign", "end", "start"]), st.integers(0, 6), st.integers(0, 40)
        ),
        max_size=20,
    )
)
def test_epochs_and_offsets_always_rise_and_the_file_agrees(
    steps: list[tuple[str, int, int]],
) -> None:
    disk = empty_disk()
    epochs = LeaderEpochs(disk, PATH)
    for verb, epoch, offset in steps:
        if verb == "assign":
            epochs.assign(epoch, offset)
        elif verb == "end":
            epochs.truncate_from_end(offset)
        else:
            epochs.truncate_from_start(offset)
        starts = list(epochs)
        assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(starts))
    epochs.write()
    assert list(LeaderEpochs.load(disk, PATH)) == list(epochs)


def test_only_writing_costs_a_disk_call_and_only_if_there_is_news() -> None:
    disk = empty_disk()
    epochs = LeaderEpochs(disk, PATH)
    before = list(disk.calls)
    epochs.assign(1, 0)
    epochs.assign(2, 5)
    epochs.truncate_from_start(3)
    epochs.truncate_from_end(5)
    assert disk.calls == before
    epochs.write()
    written = list(disk.calls)
    assert written != before
    epochs.assign(1, 7)
    epochs.write()
    assert disk.calls == written


def test_a_file_that_moves_is_written_in_its_new_place() -> None:
    disk = empty_disk()
    epochs = LeaderEpochs(disk, PATH)
    epochs.assign(1, 0)
    epochs.move_to(PATH + ".moved")
    epochs.assign(2, 5)
    epochs.write()
    assert [start.epoch for start in LeaderEpochs.load(disk, PATH + ".moved")] == [1, 2]


def test_a_cut_is_in_the_file_at_once_and_written_again_with_the_next_flush() -> None:
    disk = empty_disk()
    epochs = LeaderEpochs(disk, PATH)
    epochs.assign(1, 0)
    epochs.assign(2, 5)
    epochs.write()
    epochs.cut(5)
    assert list(LeaderEpochs.load(disk, PATH)) == [(1, 0)]
    assert epochs.has_unwritten
    epochs.write()
    epochs.cut(5)
    assert not epochs.has_unwritten
