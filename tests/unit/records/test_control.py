"""Control batches."""

import pytest

from moldau.errors import ProtocolError
from moldau.records import batch
from moldau.records.batch import CONTROL, TRANSACTIONAL, BatchHeader, write_batch
from moldau.records.control import (
    MARKER_BATCH_SIZE,
    EndMarker,
    read_end_marker,
    write_end_marker,
)
from moldau.records.record import Record


@pytest.mark.parametrize("is_commit", [True, False])
def test_a_marker_is_read_back(is_commit: bool) -> None:
    marker = EndMarker(is_commit, coordinator_epoch=12)
    data = write_end_marker(marker, producer_id=7, producer_epoch=3, timestamp_ms=1000)
    assert read_end_marker(b"\xff" + data, 1) == marker


def test_a_marker_is_a_transactional_control_batch_without_sequence() -> None:
    data = write_end_marker(EndMarker(True, 0), producer_id=7, producer_epoch=3, timestamp_ms=5)
    header = BatchHeader.read(data)
    assert len(data) == header.size == MARKER_BATCH_SIZE
    assert header.attributes == 0x30
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 3, -1)
    assert header.max_timestamp == 5


def test_the_record_has_the_known_bytes() -> None:
    data = write_end_marker(EndMarker(True, 258), producer_id=7, producer_epoch=3, timestamp_ms=5)
    expected = bytes.fromhex("20 00 00 00 08 0000 0001 0c 0000 00000102 00")
    assert data[batch.RECORDS_POSITION :] == expected


def test_an_empty_control_batch_has_no_marker() -> None:
    data = write_end_marker(EndMarker(True, 0), producer_id=7, producer_epoch=3, timestamp_ms=5)
    header = BatchHeader.read(data)
    header.record_count = 0
    assert read_end_marker(batch.assemble_batch(header, b"")) is None


def test_control_records_of_other_types_are_no_markers() -> None:
    assert read_end_marker(_control_batch(b"\x00\x00\x00\x02", b"")) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b"\x00\x00\x00\x00\x00\x01"),
        (b"\x00\x00\x00", b"\x00\x00\x00\x00\x00\x01"),
        (b"\x00\x00\x00\x01", None),
        (b"\x00\x00\x00\x01", b"\x00\x00\x00\x00\x00"),
        (b"\xff\xff\x00\x01", b"\x00\x00\x00\x00\x00\x01"),
    ],
)
def test_a_malformed_marker_is_refused(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(ProtocolError):
        read_end_marker(_control_batch(key, value))


def test_fields_of_later_versions_are_left_alone() -> None:
    data = _control_batch(b"\x00\x01\x00\x00more", b"\x00\x01\x00\x00\x00\x09more")
    assert read_end_marker(data) == EndMarker(False, 9)


def _control_batch(key: bytes | None, value: bytes | None) -> bytearray:
    return write_batch([Record(0, 0, key, value)], attributes=TRANSACTIONAL | CONTROL)
