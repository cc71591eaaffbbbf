"""Seeds of the simulated cluster: whatever fails, the invariants hold.

They are played by other processes, with a fixed order of sets: a seed that fails here fails
in the same way when it is replayed. The long form is `bin/simulate`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
SEEDS = 60
SEEDS_TOGETHER = 10


@pytest.mark.parametrize("start", range(0, SEEDS, SEEDS_TOGETHER))
def test_the_invariants_hold_in_every_seed(start: int) -> None:
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = ["-m", "simulation.run", str(SEEDS_TOGETHER), "--start", str(start)]
    played = subprocess.run(
        [sys.executable, *command, "--workers", "1"],
        env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert played.returncode == 0, played.stdout + played.stderr
