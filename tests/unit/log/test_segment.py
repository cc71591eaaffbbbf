"""A segment finds its batches through indexes that it repairs when they are wrong."""

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.log import names
from moldau.log.segment import Segment
from moldau.records.batch import BatchHeader, stamp
from unit.log.logs import Workbench, batch

INDEX = "00000000000000000000.index"
TIME_INDEX = "00000000000000000000.timeindex"
LOG = "00000000000000000000.log"


@pytest.fixture
def bench() -> Workbench:
    made = Workbench()
    made.disk.make_directory(made.folder.path)
    return made


def filled(bench: Workbench, count: int = 6, *, interval_bytes: int = 0) -> Segment:
    """Batches of two records with timestamps 1000, 1010, ..."""
    segment = Segment.create(bench.folder, 0, now_ms=7)
    for number in range(count):
        data = batch(bytes(20), bytes(20), timestamp=1000 + 10 * number)
        stamp(data, 0, base_offset=2 * number, leader_epoch=0)
        segment.append(data, [BatchHeader.read(data)], index_interval_bytes=interval_bytes)
    return segment


def reopened(bench: Workbench, segment: Segment) -> Segment:
    return Segment(bench.folder, 0, size=segment.size, created_ms=7)


def test_a_batch_is_found_by_each_of_its_offsets(bench: Workbench) -> None:
    segment = filled(bench)
    for offset in range(12):
        located = segment.locate(offset)
        assert located is not None
        assert located[1].base_offset == offset - offset % 2
    assert segment.locate(12) is None
    assert segment.next_offset() == 12


def test_an_entry_is_made_when_more_than_the_interval_was_appended_since_the_last(
    bench: Workbench,
) -> None:
    size = len(batch(bytes(20), bytes(20)))
    segment = filled(bench, 6, interval_bytes=size)
    # Not after one batch, which is exactly the interval, but after two.
    entries = [segment.indexes.offsets.entry(n) for n in range(len(segment.indexes.offsets))]
    assert entries == [(5, 2 * size), (9, 4 * size)]
    times = [segment.indexes.times.entry(n) for n in range(len(segment.indexes.times))]
    assert times == [(1020, 5), (1040, 9)]


def test_sealing_notes_the_largest_timestamp_and_writes_the_indexes(bench: Workbench) -> None:
    segment = filled(bench, interval_bytes=10_000)
    assert bench.read(TIME_INDEX) == b""
    segment.seal()
    assert bench.read(TIME_INDEX) == (1050).to_bytes(8, "big") + (11).to_bytes(4, "big")
    assert reopened(bench, segment).largest == (1050, 11)


def test_a_cold_segment_holds_nothing_and_works_all_the_same(bench: Workbench) -> None:
    segment = filled(bench)
    segment.write_indexes()
    reader = segment.file()
    segment.cool()
    assert segment.locate(7) is not None
    assert reader.size() == segment.size
    segment.cool()
    data = batch(timestamp=2000)
    stamp(data, 0, base_offset=12, leader_epoch=0)
    segment.append(data, [BatchHeader.read(data)], index_interval_bytes=0)
    assert segment.next_offset() == 13


def test_cooling_keeps_index_entries_that_are_not_written_yet(bench: Workbench) -> None:
    segment = filled(bench)
    segment.cool()
    assert len(segment.indexes.offsets) == 5


def test_truncation_cuts_the_batches_and_their_entries(bench: Workbench) -> None:
    segment = filled(bench)
    assert segment.truncate_to(7) == 6
    assert segment.next_offset() == 6
    assert segment.largest == (1020, 5)
    assert segment.truncate_to(50) == 50
    assert segment.truncate_to(0) == 0
    assert segment.size == 0
    assert segment.largest.timestamp == -1
    segment.write_indexes()
    assert bench.read(INDEX) == bench.read(TIME_INDEX) == bench.read(LOG) == b""


@pytest.mark.parametrize("kind", [INDEX, TIME_INDEX])
def test_a_missing_index_is_rebuilt(bench: Workbench, kind: str) -> None:
    segment = filled(bench, interval_bytes=4096)
    segment.seal()
    bench.disk.remove(bench.path(kind))
    again = reopened(bench, segment)
    assert again.largest == (1050, 11)
    assert again.locate(11) is not None


@pytest.mark.parametrize("position", range(40))
def test_a_flipped_byte_in_the_index_never_leads_astray(bench: Workbench, position: int) -> None:
    segment = filled(bench)
    segment.seal()
    bench.flip(INDEX, position)
    again = reopened(bench, segment)
    for offset in range(12):
        located = again.locate(offset)
        assert located is not None
        assert located[1].base_offset == offset - offset % 2
    assert reopened(bench, segment).next_offset() == 12


@pytest.mark.parametrize("data", [b"\x01", bytes(80), b"\xff" * 80])
def test_an_index_of_garbage_is_rebuilt(bench: Workbench, data: bytes) -> None:
    segment = filled(bench)
    segment.seal()
    bench.overwrite(INDEX, data)
    bench.overwrite(TIME_INDEX, data)
    assert reopened(bench, segment).next_offset() == 12
    assert reopened(bench, segment).largest == (1050, 11)


def test_damaged_batches_are_an_error_and_not_another_batch(bench: Workbench) -> None:
    segment = filled(bench)
    segment.seal()
    bench.overwrite(LOG, b"\x07" * segment.size)
    with pytest.raises(KafkaError) as refused:
        reopened(bench, segment).locate(3)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE


def test_a_damaged_transaction_index_is_not_taken_for_an_empty_one(bench: Workbench) -> None:
    segment = filled(bench)
    segment.seal()
    bench.overwrite("00000000000000000000.txnindex", b"\x07" * 33)
    with pytest.raises(KafkaError) as refused:
        reopened(bench, segment).aborted_in(0, 12)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE


def test_renaming_takes_all_files_along(bench: Workbench) -> None:
    segment = filled(bench)
    segment.rename(names.DELETED)
    assert bench.names() == {LOG + ".deleted", INDEX + ".deleted", TIME_INDEX + ".deleted"}
    assert segment.locate(3) is not None


def test_age_goes_by_timestamps_and_without_them_by_the_clock(bench: Workbench) -> None:
    segment = filled(bench)
    assert segment.age_ms(now_ms=99, timestamp=1500) == 500
    assert reopened(bench, segment).age_ms(now_ms=99, timestamp=1500) == 500
    assert Segment.create(bench.folder, 50, now_ms=7).age_ms(now_ms=99, timestamp=1500) == 92


def test_offsets_must_fit_the_index(bench: Workbench) -> None:
    segment = Segment(bench.folder, 10, size=0, created_ms=0)
    assert segment.can_hold(10 + 2**31 - 1)
    assert not segment.can_hold(10 + 2**31)
    assert not segment.can_hold(9)


def test_creating_a_segment_leaves_nothing_of_an_earlier_one(bench: Workbench) -> None:
    filled(bench).seal()
    assert Segment.create(bench.folder, 0, now_ms=0).next_offset() == 0
    assert bench.read(LOG) == bench.read(INDEX) == b""


def test_the_latest_appends_are_found_without_a_look_at_the_file(bench: Workbench) -> None:
    segment = filled(bench, 300, interval_bytes=2**30)
    headers = dict(segment.headers())
    before = len(bench.disk.calls)
    for number in range(292, 300):
        located = segment.locate(2 * number)
        assert located is not None
        assert headers[located[0]] == located[1]
        assert located[1].base_offset == 2 * number
    assert len(bench.disk.calls) == before


def test_after_a_truncation_the_latest_appends_are_forgotten(bench: Workbench) -> None:
    segment = filled(bench, 5)
    segment.truncate_to(6)
    assert segment.locate(6) is None
    assert segment.locate(8) is None
