"""Damaged log directories after an unclean stop: what we save is what Apache saves."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.apache.lines import JavaProgram, Json
from conformance.apache.log import ApacheLog
from conformance.apache.marks import needs_apache
from conformance.log_twins import CONFIG, LogTwins, in_order
from conformance.our_log import close_our_log, open_our_log, state_of
from moldau.log.opening import Remembered
from moldau.records.batch import ATTRIBUTES_POSITION, iterate_headers

pytestmark = needs_apache("kafka-3.9")

HISTORIES = 2
DAMAGES_PER_KIND = 3
DAY_MS = 86_400_000


def cut(directory: Path, draw: random.Random) -> None:
    segment = draw.choice(segments(directory)[-3:])
    segment.write_bytes(segment.read_bytes()[: draw.randrange(segment.stat().st_size + 1)])


def cut_between_batches(directory: Path, draw: random.Random) -> None:
    """A hole before the next segment, if there is one."""
    segment = draw.choice([path for path in segments(directory)[-3:] if path.stat().st_size])
    data = segment.read_bytes()
    segment.write_bytes(data[: draw.choice([position for position, _ in iterate_headers(data)])])


def flip_a_bit_that_a_checksum_covers(directory: Path, draw: random.Random) -> None:
    segment = draw.choice([path for path in segments(directory)[-3:] if path.stat().st_size])
    data = bytearray(segment.read_bytes())
    position, header = draw.choice([*iterate_headers(data)])
    data[position + draw.randrange(ATTRIBUTES_POSITION, header.size)] ^= 1 << draw.randrange(8)
    segment.write_bytes(data)


def append_zeros(directory: Path, draw: random.Random) -> None:
    with segments(directory)[-1].open("ab") as segment:
        segment.write(bytes(draw.randrange(1, 5000)))


def append_garbage(directory: Path, draw: random.Random) -> None:
    with segments(directory)[-1].open("ab") as segment:
        segment.write(draw.randbytes(draw.randrange(1, 5000)))


def remove_indexes(directory: Path, draw: random.Random) -> None:
    for path in draw.sample(sorted(directory.glob("*index")), 3):
        path.unlink()


def flip_bits_in_indexes(directory: Path, draw: random.Random) -> None:
    for path in draw.sample(sorted(directory.glob("*index")), 3):
        flip_anywhere(path, draw)


def flip_bits_in_snapshots(directory: Path, draw: random.Random) -> None:
    for path in draw.sample(sorted(directory.glob("*.snapshot")), 2):
        flip_anywhere(path, draw)


def remove_snapshots(directory: Path, draw: random.Random) -> None:
    for path in directory.glob("*.snapshot"):
        path.unlink()


def remove_epochs(directory: Path, draw: random.Random) -> None:
    (directory / "leader-epoch-checkpoint").unlink()


KINDS: list[Callable[[Path, random.Random], None]] = [
    cut,
    cut_between_batches,
    flip_a_bit_that_a_checksum_covers,
    append_zeros,
    append_garbage,
    remove_indexes,
    flip_bits_in_indexes,
    flip_bits_in_snapshots,
    remove_snapshots,
    remove_epochs,
]


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_we_save_what_apache_saves(oracle: JavaProgram, tmp_path: Path, seed: int) -> None:
    twins = LogTwins.begin(oracle, tmp_path, seed)
    twins.run(120)
    twins.close()
    for damage in KINDS:
        for number in range(DAMAGES_PER_KIND):
            name = f"{damage.__name__}-{number}"
            theirs = tmp_path / "apache" / name
            ours = tmp_path / "ours" / name
            for copy in (theirs, ours):
                shutil.copytree(tmp_path / "ours/twin-0", copy)
                damage(copy, random.Random(f"{seed} {name}"))
            apache = ApacheLog(oracle, theirs, CONFIG, twins.now_ms)
            apache.open(is_clean=False)
            log = open_our_log(ours, CONFIG, remembered=Remembered(), now_ms=twins.now_ms)
            assert without_empty_epoch(state_of(log)) == without_empty_epoch(apache.state()), name
            apache.close()
            close_our_log(log)
            assert derived_files(ours) == derived_files(theirs), name


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_lost_indexes_come_back_after_a_clean_stop_as_apaches_do(
    oracle: JavaProgram, tmp_path: Path, seed: int
) -> None:
    twins = LogTwins.begin(oracle, tmp_path, seed)
    twins.run(120)
    twins.close()
    directories = [tmp_path / "apache/lost-0", tmp_path / "ours/lost-0"]
    for directory in directories:
        shutil.copytree(tmp_path / "ours/twin-0", directory)
        for path in directory.glob("*index"):
            path.unlink()
    theirs, ours = directories
    apache = ApacheLog(oracle, theirs, CONFIG, twins.now_ms)
    apache.open(is_clean=True)
    remembered = Remembered(was_closed_cleanly=True)
    log = open_our_log(ours, CONFIG, remembered=remembered, now_ms=twins.now_ms)
    assert state_of(log)["aborted"]
    assert without_empty_epoch(state_of(log)) == without_empty_epoch(apache.state())
    apache.close()
    close_our_log(log)
    assert derived_files(ours) == derived_files(theirs)


@pytest.mark.parametrize("is_clean", [True, False])
def test_the_producers_that_have_expired_are_those_that_apache_drops(
    oracle: JavaProgram, tmp_path: Path, is_clean: bool
) -> None:
    twins = LogTwins.begin(oracle, tmp_path, 0)
    twins.run(120)
    twins.close()
    found = len(twins.ours.producers)
    now_ms = twins.now_ms + DAY_MS
    directories = [tmp_path / "apache/late-0", tmp_path / "ours/late-0"]
    for directory in directories:
        shutil.copytree(tmp_path / "ours/twin-0", directory)
    theirs, ours = directories
    apache = ApacheLog(oracle, theirs, CONFIG, now_ms)
    apache.open(is_clean=is_clean)
    remembered = Remembered(was_closed_cleanly=is_clean)
    log = open_our_log(ours, CONFIG, remembered=remembered, now_ms=now_ms)
    assert without_coordinators(state_of(log)) == without_coordinators(apache.state())
    assert 0 < len(log.producers) < found
    apache.close()


def segments(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.log"))


def flip_anywhere(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        path.write_bytes(data)


def without_empty_epoch(state: Json) -> Json:
    """The state but for an epoch that begins at the end: Apache drops it, we keep it."""
    epochs = [epoch for epoch in state["epochs"] if epoch[1] < state["log_end_offset"]]
    return in_order({**state, "epochs": epochs})


def without_coordinators(state: Json) -> list[Json]:
    """The producers but for their coordinators' epochs.

    Apache forgets them where a producer was silent for long in between; we remember.
    """
    return [{**one, "coordinator_epoch": None} for one in in_order(state)["producers"]]


def derived_files(directory: Path) -> dict[str, bytes]:
    """Segments and indexes, which recovery has made anew."""
    found = {path.name: path.read_bytes() for path in directory.glob("0*")}
    return {
        name: data
        for name, data in found.items()
        if not name.endswith((".deleted", ".snapshot")) and (data or ".txn" not in name)
    }
