"""Produce: records that are refused, each wrong in one way under a right checksum."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from moldau.errors import ErrorCode
from moldau.records.batch import (
    CONTROL,
    RECORDS_POSITION,
    BatchHeader,
    Producer,
    assemble_batch,
    write_batch,
)
from moldau.records.record import Record
from unit.broker.sample_requests import produce, produced
from unit.broker.world import START_MS, World

ROWS = [Record(offset, START_MS, b"k", b"value") for offset in range(3)]


def batch(rows: list[Record] = ROWS, **header: int) -> bytearray:
    """A batch, some of whose header may be a lie."""
    right = write_batch(rows)
    return assemble_batch(replace(BatchHeader.read(right), **header), right[RECORDS_POSITION:])


def at(*timestamps: int) -> list[Record]:
    return [Record(n, START_MS + each, b"k", b"v") for n, each in enumerate(timestamps)]


def numbered(*offsets: int) -> bytearray:
    """Records with these offset deltas, the last of which the header knows."""
    rows = [Record(offset, START_MS, b"k", b"v") for offset in offsets]
    return batch(rows, last_offset_delta=len(offsets) - 1)


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (batch(last_offset_delta=3), ErrorCode.INVALID_RECORD),
        (batch(record_count=2, last_offset_delta=1), ErrorCode.INVALID_RECORD),
        (batch(record_count=4, last_offset_delta=3), ErrorCode.INVALID_RECORD),
        (batch(record_count=0, last_offset_delta=-1), ErrorCode.INVALID_RECORD),
        (batch(base_offset=1), ErrorCode.INVALID_RECORD),
        (batch(attributes=CONTROL), ErrorCode.INVALID_RECORD),
        (batch(producer_id=7, producer_epoch=0), ErrorCode.INVALID_RECORD),
        (numbered(0, 2, 3), ErrorCode.INVALID_RECORD),
        (numbered(1, 2), ErrorCode.INVALID_RECORD),
        (numbered(0, 0), ErrorCode.INVALID_RECORD),
    ],
)
async def test_a_batch_that_is_not_what_it_says_is_refused(
    world: World, records: bytearray, code: ErrorCode
) -> None:
    await world.create_topic("t")
    answer = produced(await world.ask(produce(bytearray(records)), 9))
    assert (answer.error_code, answer.base_offset) == (code, -1)
    assert world.partition("t").log.log_end_offset == 0


@pytest.mark.parametrize(
    ("settings", "records", "code"),
    [
        ({"segment.bytes": "80"}, batch(), ErrorCode.RECORD_LIST_TOO_LARGE),
        ({"max.message.bytes": "80"}, batch(), ErrorCode.MESSAGE_TOO_LARGE),
        ({"message.timestamp.before.max.ms": "9"}, at(0, -10), ErrorCode.INVALID_TIMESTAMP),
        ({"message.timestamp.after.max.ms": "9"}, at(0, 10, 0), ErrorCode.INVALID_TIMESTAMP),
        (
            {"cleanup.policy": "compact"},
            [*ROWS, Record(3, START_MS, None, b"v")],
            ErrorCode.INVALID_RECORD,
        ),
    ],
)
async def test_what_a_topics_settings_forbid_is_refused(
    world: World, settings: Mapping[str, str], records: bytearray | list[Record], code: ErrorCode
) -> None:
    await world.create_topic("t", overrides=settings)
    sent = batch(records) if isinstance(records, list) else bytearray(records)
    answer = produced(await world.ask(produce(sent), 9))
    assert (answer.error_code, answer.base_offset) == (code, -1)
    assert world.partition("t").log.log_end_offset == 0


async def test_a_largest_timestamp_that_is_wrong_is_put_right(world: World) -> None:
    await world.create_topic("t")
    answer = produced(await world.ask(produce(batch(max_timestamp=START_MS + 9)), 9))
    assert answer.error_code == ErrorCode.NONE
    stored = world.partition("t").log.read(0, max_bytes=1_000).range
    assert stored is not None
    assert BatchHeader.read(stored.read()).max_timestamp == START_MS


async def test_what_is_just_right_is_stored(world: World) -> None:
    await world.create_topic(
        "t",
        overrides={
            "segment.bytes": str(len(batch())),
            "max.message.bytes": str(len(batch())),
            "message.timestamp.before.max.ms": "0",
            "message.timestamp.after.max.ms": "0",
            "cleanup.policy": "compact",
        },
    )
    assert produced(await world.ask(produce(batch()), 9)).error_code == ErrorCode.NONE
    idempotent = write_batch([Record(0, START_MS, b"k", b"v")], producer=Producer(7, 0, 0))
    assert produced(await world.ask(produce(idempotent), 9)).error_code == ErrorCode.NONE
