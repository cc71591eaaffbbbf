"""Headers of batches and markers, and what a partition says to them."""

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.log.producer_state import KeptBatch, Origin, Producers
from moldau.records.batch import CONTROL, TRANSACTIONAL, BatchHeader
from moldau.records.control import EndMarker


def batch(
    offset: int = 0,
    *,
    pid: int = 1,
    epoch: int = 0,
    sequence: int = 0,
    count: int = 1,
    attributes: int = 0,
    timestamp: int = 1000,
) -> BatchHeader:
    """The header of a batch of `count` records at `offset`."""
    return BatchHeader(
        base_offset=offset,
        size=100,
        leader_epoch=0,
        magic=2,
        crc=0,
        attributes=attributes,
        last_offset_delta=count - 1,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=pid,
        producer_epoch=epoch,
        base_sequence=sequence,
        record_count=count,
    )


def data(offset: int, **fields: int) -> BatchHeader:
    return batch(offset, attributes=TRANSACTIONAL, **fields)


def end(offset: int, *, pid: int = 1, epoch: int = 0) -> BatchHeader:
    return batch(offset, pid=pid, epoch=epoch, sequence=-1, attributes=TRANSACTIONAL | CONTROL)


COMMIT = EndMarker(is_commit=True, coordinator_epoch=0)
ABORT = EndMarker(is_commit=False, coordinator_epoch=0)


def check(
    producers: Producers,
    header: BatchHeader,
    marker: EndMarker | None = None,
    origin: Origin = Origin.CLIENT,
) -> KeptBatch | None:
    return producers.check_append([(header, marker)], origin)


def refusal(
    producers: Producers,
    header: BatchHeader,
    marker: EndMarker | None = None,
    origin: Origin = Origin.CLIENT,
) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        check(producers, header, marker, origin)
    return caught.value.code


def producers_after(*headers: BatchHeader) -> Producers:
    producers = Producers()
    for header in headers:
        producers.apply(header, None)
    return producers
