"""The example that newcomers see first."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_quickstart_shows_an_exchange_and_every_codec() -> None:
    command = [sys.executable, str(ROOT / "examples" / "quickstart.py")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "client_software_name='moldau'" in run.stdout
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        assert f"\n   {codec} " in run.stdout
    assert run.stdout.count("10,000 equal records") == 5
