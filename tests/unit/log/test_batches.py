"""What comes in must consist of whole batches, in order."""

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.log.batches import read_batches, require_rising
from moldau.records.batch import BatchHeader
from moldau.records.control import EndMarker, write_end_marker
from unit.log.logs import batch

MARKER = write_end_marker(EndMarker(True, 4), producer_id=7, producer_epoch=0, timestamp_ms=1)


def test_headers_and_markers_are_read() -> None:
    assert [marker for _, marker in read_batches(batch())] == [None]
    assert [marker for _, marker in read_batches(batch() + batch() + MARKER)] == [
        None,
        None,
        EndMarker(True, 4),
    ]
    assert read_batches(b"") == []


def negative(data: bytearray) -> bytearray:
    data[23:27] = b"\xff" * 4
    return data


@pytest.mark.parametrize(
    "data",
    [
        batch()[:-1],
        batch() + batch()[:-1],
        batch() + b"\0",
        b"\0",
        negative(batch()),
        batch() + negative(batch()),
        batch()[:16] + b"\x01" + batch()[17:],
    ],
)
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(KafkaError) as refused:
        read_batches(data)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE


def test_batches_of_a_leader_must_rise() -> None:
    header = BatchHeader.read(batch(b"1", b"2"))
    require_rising([(header, None)], 0)
    with pytest.raises(KafkaError):
        require_rising([(header, None)], 1)
    with pytest.raises(KafkaError):
        require_rising([(header, None), (header, None)], 0)
