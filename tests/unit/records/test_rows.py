"""Fetched records one by one."""

from importlib import import_module
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.errors import CorruptMessage, ProtocolError
from moldau.model import TopicPartition
from moldau.records import fetched, kernel, rows
from moldau.records.batch import LOG_APPEND_TIME, write_batch
from moldau.records.compression import Codec
from moldau.records.fetched import Selection, StopReason
from moldau.records.record import Record
from moldau.records.rows import Rows, read_rows

FORMS: dict[str, ModuleType] = {"source": kernel}
try:
    _kernel = import_module("moldau.records._kernel")

    FORMS["compiled"] = _kernel
except ImportError:  # pragma: no cover - the extension is optional
    pass


@pytest.fixture(params=FORMS, scope="module")
def form(request: pytest.FixtureRequest) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fetched, "kernel", FORMS[request.param])
        patch.setattr(rows, "kernel", FORMS[request.param])
        yield FORMS[request.param]


nullable = st.none() | st.binary(max_size=100)
Content = tuple[int, bytes | None, bytes | None, tuple[tuple[bytes, bytes | None], ...]]
fields = st.tuples(
    st.integers(-(2**63), 2**63 - 1),
    nullable,
    nullable,
    st.lists(st.tuples(st.binary(max_size=9), nullable), max_size=3).map(tuple),
)
RECORDS = [Record(offset, offset, b"k", b"v", ((b"h", None),)) for offset in range(10)]


def as_record(row: kernel.Row) -> Record:
    return Record(row.offset, row.timestamp, row.key, row.value, row.headers)


@given(
    contents=st.lists(fields, min_size=1, max_size=10),
    codec=st.sampled_from(Codec),
    start=st.integers(0, 10),
    size=st.integers(0, 10),
)
@settings(max_examples=60, deadline=None)
def test_rows_are_the_records(
    form: ModuleType, contents: list[Content], codec: Codec, start: int, size: int
) -> None:
    records = [Record(offset, *content) for offset, content in enumerate(contents)]
    data = write_batch(records, attributes=codec)
    wanted = Selection(start_offset=start, end_offset=start + size)
    assert [as_record(row) for row in Rows(data, wanted)] == records[start : start + size]


def test_several_batches_follow_each_other(form: ModuleType) -> None:
    later = [record._replace(offset=record.offset + 10) for record in RECORDS]
    data = write_batch(RECORDS) + write_batch(later, base_offset=10, attributes=Codec.ZSTD)
    reader = Rows(data + data[:30])
    assert [row.offset for row in reader] == list(range(20))
    assert (reader.fetched.next_offset, reader.fetched.stop) == (20, StopReason.DATA_END)


def test_log_append_time_is_the_time_of_every_row(form: ModuleType) -> None:
    data = write_batch(RECORDS, attributes=LOG_APPEND_TIME)
    assert {row.timestamp for row in Rows(data)} == {9}


def test_a_wrong_checksum_is_refused(form: ModuleType) -> None:
    data = write_batch(RECORDS)
    data[-1] ^= 1
    with pytest.raises(ProtocolError, match="checksum"):
        next(iter(Rows(data)))


def test_malformed_records_are_refused_when_they_are_reached(form: ModuleType) -> None:
    data = write_batch([Record(0, 0, None, b"v"), Record(1, 0, None, b"v")])
    data[-1] = 2  # one header, and nothing of it
    reader = iter(Rows(data, Selection(check_crc=False)))
    assert next(reader).offset == 0
    with pytest.raises(ProtocolError):
        next(reader)


def test_an_offset_outside_of_the_batch_is_refused(form: ModuleType) -> None:
    data = write_batch(RECORDS)
    data[26] = 3  # last offset delta
    with pytest.raises(ProtocolError, match="offset delta"):
        list(Rows(data, Selection(check_crc=False)))


def test_rows_say_what_they_are(form: ModuleType) -> None:
    row = form.Row(1, 2, b"k", None)
    assert repr(row) == "Row(offset=1, timestamp=2, key=b'k', value=None, headers=())"


T0 = TopicPartition("t", 0)


@pytest.mark.usefixtures("form")
def test_readers_of_consumers_see_what_rows_see() -> None:
    batches = [
        write_batch([Record(0, 5, b"k", b"v", ((b"h\xff", None),)), Record(1, 6, None, None)]),
        write_batch([Record(2, 7, b"", b"the same again" * 9)], attributes=Codec.LZ4),
    ]
    data = b"".join(map(bytes, batches))
    reader = read_rows(data, Selection(), T0)
    records = reader.take(2)
    assert (reader.position, reader.is_exhausted) == (2, False)
    records += reader.take(10)
    assert reader.is_exhausted
    assert [(each.offset, each.timestamp, each.key, each.value) for each in records] == [
        (row.offset, row.timestamp, row.key, row.value) for row in Rows(data)
    ]
    assert records[0].headers == (("h\ufffd", None),)
    assert all(each.topic_partition == T0 for each in records)


@pytest.mark.usefixtures("form")
def test_readers_start_where_they_are_told_and_deserialize() -> None:
    data = write_batch([Record(each, 5, b"1", b"2") for each in range(5)])
    reader = read_rows(data, Selection(3), T0, (int, float))
    assert [(each.offset, each.key, each.value) for each in reader.take(10)] == [
        (3, 1, 2.0),
        (4, 1, 2.0),
    ]


@pytest.mark.usefixtures("form")
def test_a_reader_stays_before_what_is_damaged() -> None:
    good, bad = write_batch([Record(0, 5, b"k", b"v")]), write_batch([Record(1, 5, b"k", b"v")])
    data = bytearray(bytes(good) + bytes(bad))
    data[-3] ^= 1
    reader = read_rows(data, Selection(), T0)
    assert len(reader.take(10)) == 1
    for _ in range(2):
        with pytest.raises(CorruptMessage, match=r"t-0 at 1: .*wrong checksum"):
            reader.take(10)
    assert reader.position == 1
    reader.close()
