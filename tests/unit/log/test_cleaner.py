"""What compaction keeps of a log, rule by rule."""

from dataclasses import replace

import pytest

from moldau.errors import ProtocolError
from moldau.log import names
from moldau.log.cleaner import KeyMapTooSmall, Workspace
from moldau.log.pace import Cancelled, Pace
from moldau.records.batch import crc_is_valid
from moldau.records.compression import Codec
from unit.log.compaction import RETENTION_MS, Compacted


def test_each_key_keeps_its_newest_record_at_its_offset() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"), (b"b", b"2"))
    topic.put((b"a", b"3"), (b"c", b"4"))
    topic.put((b"b", b"5"))

    topic.roll_and_clean()

    assert topic.rows() == [(2, b"a", b"3"), (3, b"c", b"4"), (4, b"b", b"5")]
    assert topic.log.log_end_offset == 5


def test_the_active_segment_is_left_alone() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"))
    topic.roll()
    topic.put((b"a", b"2"))
    topic.put((b"a", b"3"))

    topic.clean()

    assert topic.rows() == [(0, b"a", b"1"), (1, b"a", b"2"), (2, b"a", b"3")]


def test_a_second_time_cleans_what_was_clean_against_what_is_new() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"), (b"b", b"2"))
    topic.roll_and_clean()
    topic.put((b"a", b"3"))

    topic.roll_and_clean()

    assert topic.rows() == [(1, b"b", b"2"), (2, b"a", b"3")]


@pytest.mark.parametrize("codec", list(Codec))
def test_a_compressed_batch_stays_in_its_codec(codec: Codec) -> None:
    topic = Compacted()
    topic.put((b"a", b"1" * 50), (b"b", b"2" * 50), (b"a", b"3" * 50), attributes=codec)
    topic.put((b"c", b"4"), attributes=codec)

    topic.roll_and_clean()

    first, second = topic.batches()
    assert [r.offset for r in first.records] == [1, 2]
    assert first.header.codec is codec
    assert crc_is_valid(first.data, 0, first.header.size)
    assert [r.offset for r in second.records] == [3]


def test_a_tombstone_stays_until_its_retention_has_passed() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"), (b"b", b"2"))
    topic.put((b"a", None))
    topic.put((b"z", b"last"))
    topic.roll_and_clean()
    assert topic.rows() == [(1, b"b", b"2"), (2, b"a", None), (3, b"z", b"last")]

    topic.now_ms += RETENTION_MS - 1
    topic.put((b"y", b""))
    topic.roll_and_clean()
    assert (2, b"a", None) in topic.rows()

    topic.now_ms += 1
    topic.put((b"x", b""))
    topic.roll_and_clean()
    assert [key for _, key, _ in topic.rows()] == [b"b", b"z", b"y", b"x"]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_the_horizon_moves_no_timestamp(codec: Codec) -> None:
    topic = Compacted()
    topic.put((b"a", None), (b"b", b"2"), attributes=codec, timestamp=12345)
    topic.put((b"z", b"last"))

    topic.roll_and_clean()

    found = topic.batches()[0]
    assert found.header.base_timestamp == topic.now_ms + RETENTION_MS
    assert found.header.has_delete_horizon
    assert [record.timestamp for record in found.records] == [12345, 12345]
    assert found.header.max_timestamp == 12345
    assert crc_is_valid(found.data, 0, found.header.size)


def test_the_last_offset_of_what_is_cleaned_is_not_lost() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"))
    topic.put((b"b", None))
    topic.roll()
    topic.clean()
    topic.now_ms += RETENTION_MS
    topic.put((b"b", b"3"))
    topic.roll()
    topic.put((b"b", None))
    topic.roll()

    topic.clean()

    assert [found.header.last_offset for found in topic.batches()] == [0, 3]


def test_the_map_may_be_too_small_for_all_and_the_rest_comes_next_time() -> None:
    topic = Compacted()
    for value in range(3):
        for key in range(10):
            topic.put((b"%d" % key, b"%d" % value))
    topic.roll()
    topic.workspace = Workspace(seed=bytes(16), key_map_bytes=24 * 6, chunk_bytes=400)

    topic.clean()
    assert topic.clean_offset == 5
    assert len(topic.rows()) == 30
    for _ in range(6):
        topic.clean()

    assert topic.clean_offset == 30
    assert topic.rows() == [(20 + key, b"%d" % key, b"2") for key in range(10)]


@pytest.mark.parametrize(("load_factor", "clean_offset"), [(0.5, 10), (0.9, 18), (1.0, 19)])
def test_the_map_is_filled_as_far_as_the_load_factor_says(
    load_factor: float, clean_offset: int
) -> None:
    topic = Compacted()
    for key in range(30):
        topic.put((b"%d" % key, b""))
    topic.roll()
    topic.workspace = Workspace(seed=bytes(16), key_map_bytes=24 * 20, load_factor=load_factor)

    topic.clean()

    assert topic.clean_offset == clean_offset


def test_a_full_map_also_stops_at_a_compressed_batch() -> None:
    topic = Compacted()
    for key in range(10):
        topic.put((b"%d" % key, b""), attributes=Codec.LZ4)
    topic.roll()
    topic.workspace = Workspace(seed=bytes(16), key_map_bytes=24 * 6)

    topic.clean()
    assert topic.clean_offset == 5
    topic.clean()

    assert topic.clean_offset == 10


def test_without_sealed_segments_there_is_nothing_to_do() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"))
    cleaner = topic.cleaner(topic.plan())

    assert list(cleaner.segments()) == []
    assert cleaner.end_offset == 0


def test_a_segment_that_ends_in_the_middle_of_a_batch_is_refused() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"))
    topic.roll()
    made = topic.plan()
    source = made.sources[0]
    cut = replace(made, sources=(source._replace(size=source.size - 1),))

    with pytest.raises(ProtocolError, match="cut off"):
        list(topic.cleaner(cut).segments())


def test_a_batch_with_more_keys_than_the_map_holds_cannot_be_cleaned() -> None:
    topic = Compacted()
    topic.put(*((b"%d" % key, b"") for key in range(10)))
    topic.roll()
    topic.workspace = Workspace(seed=bytes(16), key_map_bytes=24 * 6)

    with pytest.raises(KeyMapTooSmall):
        topic.clean()


def test_segments_are_joined_up_to_the_size_of_one() -> None:
    topic = Compacted(segment_bytes=1000)
    for number in range(60):
        topic.put((b"key-%d" % (number % 5), b"v" * 20))
    topic.roll()
    before = len(topic.log.segments)
    topic.clean()
    topic.put((b"key-0", b""))
    topic.roll()

    topic.clean()

    assert before > 5
    assert len(topic.log.segments) == 2
    assert topic.log.segments.first.base_offset == 0
    assert len(topic.rows()) == 5


def test_a_batch_larger_than_the_buffers_is_cleaned() -> None:
    topic = Compacted()
    topic.put((b"a", b"x" * 3000), (b"b", b"y" * 3000))
    topic.put((b"a", b"z" * 5000))

    topic.roll_and_clean()

    assert [offset for offset, _, _ in topic.rows()] == [1, 2]


def test_the_indexes_of_a_cleaned_segment_lead_to_every_batch() -> None:
    topic = Compacted(index_interval_bytes=100)
    for number in range(50):
        topic.put((b"%d" % (number % 30), b"v" * 10), timestamp=1000 + number)
    topic.roll_and_clean()
    first = topic.log.segments.first

    assert len(first.indexes.offsets) > 5
    for found in topic.batches():
        located = first.locate(found.header.base_offset)
        assert located is not None
        assert located[1] == found.header
    for record in topic.records():
        assert topic.log.offset_for_timestamp(record.timestamp) == (record.timestamp, record.offset)


def test_a_cleaned_segment_keeps_the_time_of_the_newest_it_replaces() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"))
    topic.roll()
    topic.now_ms += 777
    topic.put((b"a", b"2"))
    written_ms = topic.now_ms
    topic.roll()
    topic.now_ms += 999

    (cleaned,) = topic.clean()

    assert cleaned.modified_ms == written_ms
    status = topic.disk.status(topic.log.segments.first.path(names.LOG))
    assert status is not None
    assert status.modified_ms == written_ms


@pytest.mark.parametrize("attributes", [Codec.NONE, Codec.GZIP])
def test_a_damaged_segment_is_refused_and_nothing_is_left_behind(attributes: int) -> None:
    topic = Compacted()
    topic.put((b"a", b"1"), (b"b", b"2"), attributes=attributes)
    topic.put((b"a", b"3"))
    topic.roll()
    path = topic.log.segments.first.path(names.LOG)
    data = bytearray(topic.disk.read_file(path))
    data[-1] ^= 1
    data[70] ^= 1
    file = topic.disk.open_append(path)
    file.truncate(0)
    file.append(data)

    with pytest.raises(ProtocolError):
        topic.clean()

    listed = topic.disk.list_directory(topic.folder.path)
    assert not [entry.name for entry in listed if entry.name.endswith(names.CLEANED)]


def test_cancelled_work_leaves_nothing_behind() -> None:
    topic = Compacted()
    for number in range(50):
        topic.put((b"%d" % number, b"v" * 50))
    topic.roll()
    calls = iter([False] * 30 + [True])
    pace = Pace(
        float("inf"), now_s=lambda: 0.0, sleep=lambda _: None, is_cancelled=lambda: next(calls)
    )

    with pytest.raises(Cancelled):
        list(topic.cleaner(topic.plan(), pace).segments())

    listed = topic.disk.list_directory(topic.folder.path)
    assert not [entry.name for entry in listed if entry.name.endswith(names.CLEANED)]


def test_what_was_done_is_counted() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"), (b"a", b"2"))
    topic.put((b"b", b"1"), (b"a", b"2"), attributes=Codec.GZIP)
    topic.roll()
    size = topic.log.segments.first.size
    cleaner = topic.cleaner(topic.plan())

    (cleaned,) = cleaner.segments()

    assert (cleaner.records_read, cleaner.records_retained) == (4, 2)
    assert cleaner.bytes_read == 2 * size
    assert cleaner.bytes_written == cleaned.size
