"""Producers come back from a snapshot and from the batches behind it."""

from moldau.log import replay
from moldau.log.log import Log
from moldau.log.producer_state import Producers
from moldau.records.batch import Producer
from unit.log.logs import Workbench, batch


def append(log: Log, sequence: int) -> None:
    data = batch(producer=Producer(7, 0, sequence), timestamp=1000 + sequence)
    log.append_as_leader(data, leader_epoch=0, now_ms=0)


def rebuilt(log: Log, end_offset: int, *, now_ms: int = 0) -> Producers:
    producers = Producers()
    bounds = (0, end_offset)
    start_offset = replay.restore(
        producers, log.snapshots, bounds=bounds, now_ms=now_ms, expiration_ms=10_000
    )
    replay.apply_batches(producers, log.segments, start_offset=start_offset, end_offset=end_offset)
    return producers


def last_sequence(producers: Producers) -> int | None:
    producer = producers.get(7)
    return None if producer is None else producer.last_sequence


def test_the_state_at_any_offset_is_rebuilt() -> None:
    log = Workbench().create()
    for sequence in range(6):
        append(log, sequence)
        if sequence in (1, 3):
            log.roll(now_ms=0)
    found = [last_sequence(rebuilt(log, end_offset)) for end_offset in range(7)]
    assert found == [None, 0, 1, 2, 3, 4, 5]


def test_what_the_snapshot_has_is_not_read_again() -> None:
    log = Workbench().create()
    append(log, 0)
    log.roll(now_ms=0)
    append(log, 1)
    calls = log.folder.disk.calls  # type: ignore[attr-defined]
    before = len(calls)
    rebuilt(log, 1)
    assert calls[before:] == ["read_file"]


def test_producers_that_expired_are_not_loaded() -> None:
    log = Workbench().create()
    append(log, 0)
    log.roll(now_ms=0)
    assert last_sequence(rebuilt(log, 1, now_ms=10_999)) == 0
    assert last_sequence(rebuilt(log, 1, now_ms=11_000)) is None
