"""Our log and Apache's after the same history: the same state, the same files, to the byte."""

import shutil
import struct
from pathlib import Path

import pytest

from conformance.apache.dump import dump
from conformance.apache.lines import JavaProgram, Json
from conformance.apache.log import ApacheLog
from conformance.apache.marks import needs_apache
from conformance.log_twins import CONFIG, LogTwins, in_order
from conformance.our_log import close_our_log, open_our_log, state_of
from moldau.log.opening import Remembered
from moldau.records.crc32c import crc32c

pytestmark = needs_apache("kafka-3.9")

STEP_COUNT = 200
Content = bytes | list[bytes]
CLEAN = Remembered(was_closed_cleanly=True)
UNCLEAN = Remembered()


@pytest.fixture
def twins(oracle: JavaProgram, tmp_path: Path, seed: int) -> LogTwins:
    """Both logs after a history drawn from the seed, open."""
    twins = LogTwins.begin(oracle, tmp_path, seed)
    twins.run(STEP_COUNT)
    return twins


@pytest.mark.parametrize("seed", range(4))
def test_states_and_files_are_equal(twins: LogTwins, tmp_path: Path) -> None:
    theirs, ours = twins.states()
    twins.close()
    assert ours == theirs
    assert len(ours["segments"]) > 5
    assert files_of(tmp_path / "ours/twin-0") == files_of(tmp_path / "apache/twin-0")


@pytest.mark.parametrize("seed", [4])
def test_timestamps_are_found_at_the_same_offsets(twins: LogTwins) -> None:
    start_ms = twins.now_ms - 5_000_000
    for timestamp in range(start_ms, twins.now_ms + 200_000, 100_003):
        ours = twins.ours.offset_for_timestamp(timestamp)
        assert ours == twins.apache.offset_for_timestamp(timestamp)
    twins.close()


@pytest.mark.parametrize("seed", [5])
def test_reads_return_the_same_bytes(twins: LogTwins) -> None:
    for offset in range(0, twins.ours.log_end_offset, 7):
        for max_bytes in (1, 700, 5000, 10**6):
            fetched = twins.ours.read(offset, max_bytes=max_bytes, at_least_one=True)
            assert fetched.range is not None
            assert fetched.range.read() == twins.apache.read(offset, max_bytes=max_bytes)
    twins.close()


@pytest.mark.parametrize("seed", [6, 7])
def test_each_opens_what_the_other_closed(
    oracle: JavaProgram, twins: LogTwins, tmp_path: Path
) -> None:
    expected, _ = twins.states()
    twins.close()
    before = files_of(tmp_path / "ours/twin-0")
    assert in_order(apache_state(oracle, tmp_path / "ours/twin-0", twins.now_ms)) == expected
    assert files_of(tmp_path / "ours/twin-0") == before
    assert our_state(tmp_path / "apache/twin-0", CLEAN, twins.now_ms) == expected
    assert files_of(tmp_path / "apache/twin-0") == before


@pytest.mark.parametrize("seed", [8, 9])
def test_each_recovers_what_the_other_left_behind(
    oracle: JavaProgram, twins: LogTwins, tmp_path: Path
) -> None:
    """The files of a running log, as a crash of the process leaves them, with a torn tail."""
    for side in ("apache", "ours"):
        shutil.copytree(tmp_path / side, tmp_path / f"{side}-crashed")
        last = max((tmp_path / f"{side}-crashed/twin-0").glob("*.log"))
        with last.open("ab") as segment:
            segment.write(bytes(61))
    expected, _ = twins.states()
    twins.close()
    crashed = tmp_path / "ours-crashed/twin-0"
    assert in_order(apache_state(oracle, crashed, twins.now_ms, is_clean=False)) == expected
    crashed = tmp_path / "apache-crashed/twin-0"
    assert our_state(crashed, UNCLEAN, twins.now_ms) == expected
    assert files_of(crashed) == files_of(tmp_path / "ours-crashed/twin-0")


@pytest.mark.parametrize("seed", [10])
@pytest.mark.parametrize(
    "option",
    ["--deep-iteration", "--print-data-log", "--verify-index-only", "--index-sanity-check"],
)
def test_the_dump_tool_finds_nothing_to_complain_about(
    twins: LogTwins, tmp_path: Path, option: str
) -> None:
    twins.close()
    result = dump(tmp_path / "ours/twin-0", option)
    assert (result.exit_code, result.complaints) == (0, "")
    assert not any("mismatch" in line.lower() for line in result.lines)
    assert all(batch["isvalid"] == "true" for batch in result.entries("baseOffset"))


def apache_state(
    oracle: JavaProgram, directory: Path, now_ms: int, *, is_clean: bool = True
) -> Json:
    """What Apache finds in `directory`, which it then closes cleanly."""
    log = ApacheLog(oracle, directory, CONFIG, now_ms)
    log.open(is_clean=is_clean)
    state = log.state()
    log.close()
    return state


def our_state(directory: Path, remembered: Remembered, now_ms: int) -> Json:
    """What we find there, likewise."""
    log = open_our_log(directory, CONFIG, remembered=remembered, now_ms=now_ms)
    state = in_order(state_of(log))
    close_our_log(log)
    return state


def files_of(directory: Path) -> dict[str, Content]:
    """Name and content of every file that a log relies on.

    Cutting a log, Apache takes a snapshot there and may leave a transaction index empty;
    both mean nothing to whoever opens the directory.
    """
    names = {path.name for path in directory.iterdir()}
    newest_snapshot = max(name for name in names if name.endswith(".snapshot"))
    found: dict[str, Content] = {}
    for path in sorted(directory.iterdir()):
        if path.suffix == ".snapshot":
            if path.with_suffix(".log").name in names or path.name == newest_snapshot:
                found[path.name] = snapshot(path)
        elif path.suffix != ".deleted" and (path.suffix != ".txnindex" or path.stat().st_size):
            found[path.name] = path.read_bytes()
    return found


def snapshot(path: Path) -> Content:
    """The entries of a producer snapshot, which Java writes in the order of its hash table."""
    data = path.read_bytes()
    version, checksum, count = struct.unpack_from(">hIi", data)
    assert checksum == crc32c(data[6:])
    entries = [data[start : start + 46] for start in range(10, len(data), 46)]
    assert (version, count) == (1, len(entries))
    return sorted(entries)
