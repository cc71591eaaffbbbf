"""The framing that every record format shares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import ErrorCode, KafkaError
from moldau.records.batch import write_batch
from moldau.records.entries import BatchEntry, iterate_entries
from moldau.records.legacy import Message, write_message
from moldau.records.record import Record

BATCH = bytes(write_batch([Record(0, 0, b"k", b"v")]))
MESSAGE_0 = write_message(Message(0, 0, 0, -1, None, b""))
MESSAGE_1 = write_message(Message(0, 1, 0, -1, None, b""))


def test_all_formats_are_found_in_one_row() -> None:
    first, second = len(BATCH), len(BATCH) + len(MESSAGE_0)
    assert list(iterate_entries(BATCH + MESSAGE_0 + MESSAGE_1)) == [
        BatchEntry(0, len(BATCH), 2),
        BatchEntry(first, len(MESSAGE_0), 0),
        BatchEntry(second, len(MESSAGE_1), 1),
    ]


@pytest.mark.parametrize("size", range(len(MESSAGE_1)))
def test_a_partial_entry_at_the_end_is_left_out(size: int) -> None:
    assert len(list(iterate_entries(BATCH + MESSAGE_1[:size]))) == 1


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 13])
def test_an_impossible_length_is_corrupt(length: int) -> None:
    data = bytearray(BATCH)
    data[8:12] = length.to_bytes(4, "big", signed=True)
    assert _code_of(data) == ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("magic", [3, 127, 128, 255])
def test_an_unknown_magic_is_corrupt(magic: int) -> None:
    data = bytearray(BATCH)
    data[16] = magic
    assert _code_of(data) == ErrorCode.CORRUPT_MESSAGE


@given(st.binary(max_size=60))
def test_any_bytes_are_entries_or_corrupt(data: bytes) -> None:
    try:
        entries = list(iterate_entries(data))
    except KafkaError:
        assert _code_of(data) == ErrorCode.CORRUPT_MESSAGE
    else:
        assert sum(entry.size for entry in entries) <= len(data)


def _code_of(data: bytes | bytearray) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        list(iterate_entries(data))
    return caught.value.code
