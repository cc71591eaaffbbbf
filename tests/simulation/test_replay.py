"""A seed is one course of things: played again it is the same, in any process."""

import os
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

from simulation import run
from simulation.record import Record
from simulation.scenario import play
from simulation.shapes import shape_of

TESTS = Path(__file__).resolve().parents[1]
SEED = 3


def trace_in_another_process(hash_seed: str) -> int:
    code = (
        "from simulation.scenario import play; from simulation.shapes import shape_of;"
        f"print(play({SEED}, shape_of({SEED})).trace)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": _path()}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def _path() -> str:
    return os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])


def test_the_same_seed_gives_the_same_trace_in_this_process_and_in_others() -> None:
    traces = {play(SEED, shape_of(SEED)).trace for _ in range(2)}
    traces |= {trace_in_another_process(hash_seed) for hash_seed in ("0", "1")}
    assert len(traces) == 1


def test_another_seed_gives_another_trace() -> None:
    assert play(SEED, shape_of(SEED)).trace != play(SEED + 1, shape_of(SEED)).trace


def test_a_failing_seed_says_how_to_replay_it() -> None:
    verdict = play(SEED, shape_of(SEED))
    verdict.violations.append("reads_stay_true: made up")
    told = run.told(verdict, None)
    assert f"bin/simulate 1 --start {SEED} -v" in told
    assert "reads_stay_true: made up" in told
    assert "1 failed [3]" in run.summary([verdict])


def test_a_seed_in_which_little_happens_has_failed() -> None:
    verdict = play(SEED, shape_of(SEED))
    assert not run.is_failed(verdict)
    assert run.is_failed(replace(verdict, simulated_s=59))
    assert run.is_failed(replace(verdict, faults=["kill"] * 4))
    assert run.is_failed(replace(verdict, acknowledged_count=999))


def test_a_run_that_was_broken_off_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "record"
    verdict = play(SEED, shape_of(SEED))
    first = Record(path, range(SEED, SEED + 3))
    first.add(verdict)
    again = Record(path, range(SEED, SEED + 3))
    assert again.verdicts == {SEED: verdict}
    assert again.missing == [SEED + 1, SEED + 2]
    assert Record(path, range(SEED)).verdicts == {}


def test_progress_says_how_far_it_is_and_how_long_it_takes() -> None:
    progress = run.Progress(2, 10, StringIO())
    progress.step(0)
    assert progress.line(1, 60) == "[#########.....................] 3/10, 1 failed, 7 min left"
