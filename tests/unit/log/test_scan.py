"""Batches are found one behind the other, whatever their size."""

import pytest

from moldau.errors import ProtocolError
from moldau.log import scan
from moldau.runtime.disk import File
from moldau.testing.disk import MemoryDisk
from unit.log.logs import batch

SIZES = (10, 9_000, 5, 70_000, 2_000_000, 100)


def file_of(*data: bytes) -> File:
    file = MemoryDisk().open_append("/file")
    for part in data:
        file.append(part)
    return file


def test_headers_and_batches_are_found_across_chunks() -> None:
    written = [bytes(batch(bytes(size))) for size in SIZES]
    file = file_of(*written)
    positions = [sum(map(len, written[:number])) for number in range(len(written))]
    found = list(scan.headers(file, 0, file.size()))
    assert [position for position, _ in found] == positions
    assert [header.size for _, header in found] == [len(data) for data in written]
    whole = list(scan.batches(file, 0, file.size()))
    assert [bytes(data) for _, _, data in whole] == written
    assert [position for position, _, _ in whole] == positions
    assert [position for position, _ in scan.headers(file, positions[3], file.size())] == positions[
        3:
    ]


@pytest.mark.parametrize("walk", [scan.headers, scan.batches])
@pytest.mark.parametrize("lost", [1, 60, 100])
def test_a_batch_that_is_cut_off_is_an_error_after_those_before_it(walk: object, lost: int) -> None:
    data = bytes(batch(bytes(40)))
    file = file_of(data, data[:-lost])
    found = walk(file, 0, file.size())  # type: ignore[operator]
    next(found)
    with pytest.raises(ProtocolError):
        next(found)


def test_a_file_that_is_shorter_than_its_segment_is_an_error() -> None:
    data = bytes(batch(bytes(40)))
    with pytest.raises(ProtocolError):
        list(scan.batches(file_of(data[:-1]), 0, len(data)))
