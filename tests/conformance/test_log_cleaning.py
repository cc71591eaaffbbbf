"""Compaction of the same log by Apache's cleaner and by ours: what is left is the same."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.apache.dump import dump
from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.apache.records import JavaBatch, java_reads
from conformance.log_twins import CONFIG, LogTwins

pytestmark = needs_apache("kafka-3.9")

HOUR_MS = 3_600_000
COMPACTED = {**CONFIG, "cleanup.policy": "compact", "delete.retention.ms": str(HOUR_MS)}


@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_is_the_same(oracle: JavaProgram, tmp_path: Path, seed: int) -> None:
    twins = LogTwins.begin(oracle, tmp_path, seed, COMPACTED)
    for ours, theirs in cleanings(oracle, twins, tmp_path):
        assert ours == theirs
    twins.close()


@pytest.mark.parametrize("option", ["--index-sanity-check", "--verify-index-only"])
def test_the_dump_tool_accepts_cleaned_segments(
    oracle: JavaProgram, tmp_path: Path, option: str
) -> None:
    twins = LogTwins.begin(oracle, tmp_path, 3, COMPACTED)
    for _ in cleanings(oracle, twins, tmp_path):
        pass
    twins.close()
    result = dump(tmp_path / "ours/twin-0", option)
    assert (result.exit_code, result.complaints) == (0, "")


def cleanings(
    oracle: JavaProgram, twins: LogTwins, root: Path
) -> Iterator[tuple[list[JavaBatch], list[JavaBatch]]]:
    """Compact again and again, with traffic and time between: yields our batches and theirs.

    First everything is new, then tombstones and markers wait, at last their time is over.
    """
    clean_offset = 0
    for step_count in (150, 100, 20, 20):
        twins.run(step_count)
        twins.roll()
        clean_offset = twins.clean(clean_offset)
        theirs, ours = twins.states()
        assert ours == theirs
        yield batches(oracle, root / "ours/twin-0"), batches(oracle, root / "apache/twin-0")
        twins.now_ms += 2 * HOUR_MS


def batches(oracle: JavaProgram, directory: Path) -> list[JavaBatch]:
    """All batches of a partition but for their sizes.

    Each compresses in its way, and we keep the base timestamp of a batch that loses records.
    """
    data = b"".join(path.read_bytes() for path in sorted(directory.glob("*.log")))
    return [dataclasses.replace(batch, size=0) for batch in java_reads(oracle, data)]
