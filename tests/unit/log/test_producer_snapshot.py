"""Producer snapshots, byte for byte Kafka's."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.log import producer_snapshot
from moldau.log.producer_snapshot import CorruptSnapshot
from moldau.log.producer_state import KeptBatch, ProducerEntry
from moldau.records.crc32c import crc32c
from moldau.testing.disk import MemoryDisk, lose_all

PATH = "/p/00000000000000000100.snapshot"

GOLDEN = bytes.fromhex(
    "0001"  # version
    "637c1f3a"  # CRC-32C of all that follows
    "00000002"  # producers
    "00000000000003e9" "0003" "00000009" "0000000000000063" "00000004" "00000174876e8000"
    "ffffffff" "ffffffffffffffff"
    "00000000000003ea" "0000" "ffffffff" "ffffffffffffffff" "00000000" "00000174876e8001"
    "00000007" "0000000000000014"
)  # fmt: skip
GOLDEN_PRODUCERS = [
    ProducerEntry(
        1001,
        epoch=3,
        last_timestamp=1600000000000,
        batches=(KeptBatch(9, 99, 4, 1600000000000),),
    ),
    ProducerEntry(
        1002,
        epoch=0,
        coordinator_epoch=7,
        last_timestamp=1600000000001,
        transaction_first_offset=20,
    ),
]


def empty_disk() -> MemoryDisk:
    disk = MemoryDisk()
    disk.make_directory("/p")
    disk.sync_directory("/")
    return disk


def test_the_bytes_are_kafkas() -> None:
    assert producer_snapshot.encode(GOLDEN_PRODUCERS) == GOLDEN
    assert producer_snapshot.decode(GOLDEN) == GOLDEN_PRODUCERS


def test_of_the_kept_batches_the_last_is_written() -> None:
    kept = (KeptBatch(0, 10, 0, 1), KeptBatch(1, 11, 0, 2))
    producer = ProducerEntry(1, epoch=0, last_timestamp=2, batches=kept)

    (read,) = producer_snapshot.decode(producer_snapshot.encode([producer]))

    assert read.batches == kept[1:]


def test_a_written_snapshot_is_read_and_replaces_an_older_one() -> None:
    disk = empty_disk()
    producer_snapshot.write(disk, PATH, GOLDEN_PRODUCERS, sync=True)
    producer_snapshot.write(disk, PATH, GOLDEN_PRODUCERS[:1], sync=True)
    disk.sync_directory("/p")

    assert producer_snapshot.read(disk.restart(lose_all), PATH) == GOLDEN_PRODUCERS[:1]


def test_a_snapshot_torn_by_power_loss_is_recognised() -> None:
    for kept_bytes in range(len(GOLDEN)):
        disk = empty_disk()
        producer_snapshot.write(disk, PATH, GOLDEN_PRODUCERS, sync=False)
        disk.sync_directory("/p")
        after = disk.restart(partial(min, kept_bytes))
        with pytest.raises(CorruptSnapshot):
            producer_snapshot.read(after, PATH)


@given(st.integers(0, len(GOLDEN) * 8 - 1))
def test_a_flipped_bit_is_recognised(bit: int) -> None:
    data = bytearray(GOLDEN)
    data[bit // 8] ^= 1 << bit % 8

    with pytest.raises(CorruptSnapshot):
        producer_snapshot.decode(bytes(data))


def test_a_count_that_lies_is_refused() -> None:
    for count in (-1, 1, 3):
        body = count.to_bytes(4, "big", signed=True) + GOLDEN[10:]
        data = producer_snapshot.HEADER.pack(1, crc32c(body)) + body
        with pytest.raises(CorruptSnapshot):
            producer_snapshot.decode(data)


def test_snapshots_without_a_segment_go_but_the_one_behind_all_stays() -> None:
    assert producer_snapshot.strays([0, 5, 10, 15, 25, 30], [0, 10, 20]) == [5, 15, 25]
    assert producer_snapshot.strays([5, 10, 20], [0, 10, 20]) == [5]
    assert producer_snapshot.strays([5], []) == []
    assert producer_snapshot.strays([], [0]) == []


def test_the_newest_snapshot_within_the_log_is_used() -> None:
    assert producer_snapshot.newest([5, 10, 20], start_offset=0, end_offset=15) == 10
    assert producer_snapshot.newest([5, 10, 20], start_offset=0, end_offset=20) == 20
    assert producer_snapshot.newest([5], start_offset=5, end_offset=20) is None
