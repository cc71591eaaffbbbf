"""Recovery keeps exactly what is intact."""

import zlib
from collections.abc import Callable

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.log import recovery
from moldau.log.log import Log
from moldau.log.producer_state import Origin
from moldau.records.batch import TRANSACTIONAL, Producer
from moldau.records.control import EndMarker, write_end_marker
from unit.log.logs import Workbench, batch, fill, offsets_in

LOG = "00000000000000000000.log"
SIZE = len(batch(bytes(50), bytes(50)))


def crashed(count: int = 4, **settings: object) -> Workbench:
    bench = Workbench(index_interval_bytes=0, **settings)
    fill(bench.create(), count)
    return bench


@pytest.mark.parametrize("lost", [1, 50, SIZE - 61, SIZE - 60, SIZE - 12, SIZE - 1])
def test_a_torn_batch_is_cut_off(lost: int) -> None:
    bench = crashed()
    bench.overwrite(LOG, bench.read(LOG)[:-lost])
    log = bench.open()
    assert offsets_in(log) == [0, 2, 4]
    assert log.log_end_offset == 6
    assert len(bench.read(LOG)) == 3 * SIZE
    fill(log, 1)
    assert offsets_in(log) == [0, 2, 4, 6]


@pytest.mark.parametrize(("count", "recovery_point"), [(1, 0), (4, 0), (4, 5)])
def test_a_torn_batch_is_cut_off_where_the_epochs_are_torn_as_well(
    count: int, recovery_point: int
) -> None:
    bench = crashed(count, segment_bytes=2 * SIZE)
    (*_, last) = sorted(name for name in bench.names() if name.endswith(".log"))
    bench.overwrite(last, bench.read(last)[:-1])
    bench.overwrite("leader-epoch-checkpoint", b"0\n1\n")
    log = bench.open(recovery_point=recovery_point)
    assert log.log_end_offset == 2 * (count - 1)
    assert [start.start_offset for start in log.epochs] == [0][: count - 1]


def test_a_cut_at_a_boundary_needs_no_repair() -> None:
    bench = crashed()
    bench.overwrite(LOG, bench.read(LOG)[:-SIZE])
    assert bench.open().log_end_offset == 6


@pytest.mark.parametrize("tail", [b"\0" * 500, b"\x07" * 500, b"\0", b"\xff" * 61])
def test_garbage_behind_the_last_batch_is_cut_off(tail: bytes) -> None:
    bench = crashed()
    bench.overwrite(LOG, bench.read(LOG) + tail)
    assert bench.open().log_end_offset == 8
    assert len(bench.read(LOG)) == 4 * SIZE


def test_what_was_cut_off_does_not_come_back_with_the_power() -> None:
    """Behind the recovery point, once the log has gone on in another segment."""
    bench = crashed(2, segment_bytes=2 * SIZE)
    log = bench.open()
    bench.flush(log)
    torn = bench.disk.open_append(bench.path(LOG))
    torn.append(b"\x07" * 45)
    torn.sync()
    fill(bench.open(recovery_point=4), 1)
    bench.disk.open_read(bench.path("00000000000000000004.log")).sync()
    bench.disk.sync_directory(bench.folder.path)
    bench.disk = bench.disk.restart()
    log = bench.open(recovery_point=4)
    assert len(bench.read(LOG)) == 2 * SIZE
    assert offsets_in(log) == [0, 2, 4]


def test_a_valid_batch_with_offsets_from_before_is_cut_off() -> None:
    bench = crashed()
    data = bench.read(LOG)
    bench.overwrite(LOG, data + data[:SIZE])
    assert bench.open().log_end_offset == 8


@pytest.mark.parametrize("position", [*range(62), 100, SIZE - 1])
def test_a_flipped_byte_ends_the_log_before_its_batch_or_changes_no_record(position: int) -> None:
    bench = crashed()
    original = bench.read(LOG)
    bench.flip(LOG, 2 * SIZE + position)
    log = bench.open()
    assert bench.read(LOG)[: 2 * SIZE] == original[: 2 * SIZE]
    # Base offset and epoch are outside the checksum: some other values may be right.
    is_unprotected = position < 8 or 12 <= position < 16
    assert log.log_end_offset == 4 or is_unprotected


def test_a_batch_that_reaches_into_the_next_segment_goes() -> None:
    bench = crashed(segment_bytes=2 * SIZE)
    data = bytearray(bench.read(LOG))
    data[SIZE : SIZE + 8] = (100).to_bytes(8, "big")
    bench.overwrite(LOG, bytes(data))
    assert bench.open().log_end_offset == 2


def flip_base_offset(bench: Workbench, number: int, bit: int) -> None:
    data = bytearray(bench.read(LOG))
    offset = int.from_bytes(data[number * SIZE : number * SIZE + 8], "big")
    data[number * SIZE : number * SIZE + 8] = (offset ^ 1 << bit).to_bytes(8, "big")
    bench.overwrite(LOG, bytes(data))


@pytest.mark.parametrize("bit", range(63))
def test_a_flipped_base_offset_shows_by_the_batch_behind_it(bit: int) -> None:
    bench = crashed()
    flip_base_offset(bench, 2, bit)
    log = bench.open()
    assert log.log_end_offset == 4
    assert offsets_in(log) == [0, 2]


@pytest.mark.parametrize("bit", range(21, 63))
def test_the_last_batch_does_not_move_the_end_of_a_log_far_away(bit: int) -> None:
    bench = crashed()
    flip_base_offset(bench, 3, bit)
    assert bench.open().log_end_offset == 6


def test_a_follower_may_have_been_cut_within_a_batch() -> None:
    bench = crashed()
    data = bytearray(bench.read(LOG))
    for number in (2, 3):
        data[number * SIZE : number * SIZE + 8] = (2 * number + 1).to_bytes(8, "big")
    bench.overwrite(LOG, bytes(data) + b"torn")
    log = bench.open()
    assert offsets_in(log) == [0, 2, 5, 7]
    assert log.log_end_offset == 9


@pytest.mark.parametrize("policy", [("compact",), ()])
def test_compacted_logs_skip_as_many_offsets_as_they_like(policy: tuple[str, ...]) -> None:
    bench = crashed(cleanup_policy=policy)
    flip_base_offset(bench, 3, 30)
    assert bench.open().log_end_offset == 2**30 + 8


def test_everything_behind_a_bad_batch_goes() -> None:
    bench = crashed(6, segment_bytes=2 * SIZE)
    bench.flip("00000000000000000004.log", SIZE + 70)
    log = bench.open()
    assert log.log_end_offset == 6
    assert list(log.segments.base_offsets) == [0, 4]
    assert "00000000000000000008.log" not in bench.names()
    assert "00000000000000000008.log.deleted" in bench.names()


def test_what_is_below_the_recovery_point_is_not_read() -> None:
    bench = crashed(6, segment_bytes=2 * SIZE)
    bench.flip(LOG, SIZE + 70)
    assert bench.open(recovery_point=4).log_end_offset == 12
    assert bench.open(recovery_point=3).log_end_offset == 2


def with_hole(**settings: object) -> Workbench:
    """A log of three segments; the second, of the offsets 4 to 8, ends at 6."""
    bench = crashed(6, segment_bytes=2 * SIZE, **settings)
    bench.overwrite("00000000000000000004.log", bench.read("00000000000000000004.log")[:SIZE])
    return bench


@pytest.mark.parametrize("recovery_point", [0, 4, 6])
def test_a_hole_behind_the_recovery_point_is_a_lost_tail(recovery_point: int) -> None:
    assert with_hole().open(recovery_point=recovery_point).log_end_offset == 6


def test_a_hole_in_what_was_flushed_is_no_power_loss() -> None:
    """The topic may have been compacted once: what is behind the hole must not go."""
    assert with_hole().open(recovery_point=7).log_end_offset == 12


def test_a_hole_is_kept_where_nobody_knows_what_was_flushed() -> None:
    log = with_hole().open()
    assert log.log_end_offset == 12
    assert offsets_in(log) == [0, 2, 4, 8, 10]


@pytest.mark.parametrize("policy", [("compact",), ()])
def test_compaction_may_leave_holes_between_segments(policy: tuple[str, ...]) -> None:
    """A log of which nobody knows whether it was compacted has an empty policy."""
    bench = with_hole(cleanup_policy=policy)
    assert bench.open(recovery_point=0).log_end_offset == 12


def test_a_segment_that_begins_inside_the_one_before_goes() -> None:
    bench = crashed(4, segment_bytes=3 * SIZE)
    bench.overwrite("00000000000000000003.log", bench.read(LOG)[:SIZE])
    log = bench.open()
    assert list(log.segments.base_offsets) == [0]
    assert log.log_end_offset == 6


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_of_an_older_format_are_refused_and_not_destroyed(magic: int) -> None:
    bench = crashed()
    body = bytes([magic, 0]) + bytes(8 * magic) + b"\xff\xff\xff\xff" + b"\0\0\0\x01v"
    message = zlib.crc32(body).to_bytes(4, "big") + body
    entry = (8).to_bytes(8, "big") + len(message).to_bytes(4, "big") + message
    bench.overwrite(LOG, bench.read(LOG) + entry)
    with pytest.raises(KafkaError) as refused:
        bench.open()
    assert refused.value.code == ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
    assert bench.read(LOG).endswith(entry)
    bench.overwrite(LOG, bench.read(LOG)[:-1] + b"w")
    assert bench.open().log_end_offset == 8


def append_transaction(log: Log, *, is_commit: bool) -> None:
    data = batch(producer=Producer(8, 0, 0), attributes=TRANSACTIONAL, timestamp=1000)
    log.append_as_leader(data, leader_epoch=2, now_ms=0)
    log.roll(now_ms=0)
    marker = write_end_marker(
        EndMarker(is_commit, 0), producer_id=8, producer_epoch=0, timestamp_ms=1000
    )
    log.append_as_leader(marker, leader_epoch=3, now_ms=0, origin=Origin.COORDINATOR)


def without(*suffixes: str) -> Callable[[Workbench], None]:
    def remove(bench: Workbench) -> None:
        for name in bench.names():
            if name.endswith(suffixes):
                bench.disk.remove(bench.path(name))

    return remove


@pytest.mark.parametrize(
    "damage",
    [
        without(),
        without(".snapshot"),
        without(".index", ".timeindex", ".txnindex", ".snapshot", "leader-epoch-checkpoint"),
    ],
)
def test_all_that_is_derived_is_built_again(damage: Callable[[Workbench], None]) -> None:
    bench = Workbench(index_interval_bytes=0)
    before = bench.create()
    append_transaction(before, is_commit=False)
    fill(before, 2)
    bench.close(before)
    indexes = {name: bench.read(name) for name in bench.names() if "index" in name}
    damage(bench)
    log = bench.open()
    fetched = log.read(0, max_bytes=10**6)
    assert [entry.producer_id for entry in log.aborted_in(fetched)] == [8]
    producer = log.producers.get(8)
    assert producer is not None
    assert producer.transaction_first_offset is None
    assert list(log.epochs) == list(before.epochs)
    bench.close(log)
    assert {name: bench.read(name) for name in indexes} == indexes


def test_a_transaction_index_is_built_again_from_the_batches() -> None:
    bench = Workbench()
    log = bench.create()
    append_transaction(log, is_commit=False)
    bench.close(log)
    name = "00000000000000000001.txnindex"
    whole = bench.read(name)
    bench.disk.remove(bench.path(name))
    recovery.rebuild_transactions(log, log.segments.active, now_ms=0)
    assert bench.read(name) == whole


def test_silent_producers_are_forgotten_and_those_with_open_transactions_kept() -> None:
    bench = Workbench()
    log = bench.create()
    log.append_as_leader(batch(producer=Producer(7, 0, 0)), leader_epoch=0, now_ms=0)
    opened = batch(producer=Producer(8, 0, 0), attributes=TRANSACTIONAL)
    log.append_as_leader(opened, leader_epoch=0, now_ms=0)
    log = bench.open(now_ms=10**9)
    assert log.producers.get(7) is None
    assert log.producers.get(8) is not None


@pytest.mark.parametrize(
    ("stale", "epochs"),
    [
        ([(0, 0), (2, 2), (5, 4)], [(0, 0), (2, 2), (4, 6)]),  # cut at 4, then an older leader's
        ([(0, 0)], [(0, 0), (2, 2), (4, 6)]),  # nothing written since the first leader
        ([(0, 0), (2, 2), (9, 8)], [(0, 0), (2, 2), (4, 6)]),  # elected after what was lost
        ([(0, 0), (2, 1), (4, 6)], [(0, 0), (2, 1), (4, 6)]),  # a first batch was compacted
    ],
)
def test_batches_correct_the_epochs_that_the_file_has(
    stale: list[tuple[int, int]], epochs: list[tuple[int, int]]
) -> None:
    bench = Workbench()
    log = bench.create()
    for epoch in (0, 2, 2, 4):
        log.append_as_leader(batch(b"", b""), leader_epoch=epoch, now_ms=0)
    lines = "".join(f"{epoch} {start}\n" for epoch, start in stale)
    bench.overwrite("leader-epoch-checkpoint", f"0\n{len(stale)}\n{lines}".encode())
    found = list(bench.open().epochs)
    assert [start for start in found if start.start_offset < 8] == epochs
