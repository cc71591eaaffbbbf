"""The example that newcomers see first."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_quickstart_starts_a_broker_and_reads_back_what_it_fed() -> None:
    command = [sys.executable, str(ROOT / "examples" / "quickstart.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    run = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert "   listening on 127.0.0.1:" in run.stdout
    assert "topic 'temperatures' with 1 partition" in run.stdout
    assert "acknowledged up to offset 9,999" in run.stdout
    assert "10,000 records, the same as were sent" in run.stdout
    assert "temperatures-0/00000000000000000000.log" in run.stdout
    assert "The broker has stopped" in run.stdout
    assert run.stderr == ""
