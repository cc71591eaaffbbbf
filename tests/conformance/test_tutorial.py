"""The ten-minute tutorial, followed word for word: docs/start.md."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from moldau.testing.broker import running_broker

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^## (\d)\. ", re.MULTILINE)
SERVER = "localhost:9092"


def blocks() -> dict[int, str]:
    """What is to be typed in each step."""
    _, *parts = STEP.split((ROOT / "docs" / "start.md").read_text(encoding="utf-8"))
    steps = zip(parts[::2], parts[1::2], strict=True)
    return {int(number): BLOCK.findall(text)[0][1] for number, text in steps}


@pytest.fixture
def server() -> Iterator[str]:
    """What step 2 starts, on a free port."""
    assert blocks()[2] == "moldau serve\n"
    with running_broker() as kafka:
        yield kafka.bootstrap_servers


def run(command: list[str], folder: Path, text: str = "") -> str:
    environment = {**os.environ, "PATH": f"{ROOT / 'bin'}:{os.environ['PATH']}"}
    environment |= {"PYTHONPATH": str(ROOT / "src"), "PYSPARK_PYTHON": sys.executable}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.needs("java")
@pytest.mark.timeout(900)  # Spark starts, beside whatever else runs
def test_the_tutorial_does_what_it_says(server: str, tmp_path: Path) -> None:
    steps = {number: text.replace(SERVER, server) for number, text in blocks().items()}
    python = [sys.executable, "-"]
    assert run(["bash", "-e"], tmp_path, steps[3]).splitlines() == ["Created topic orders.", "3"]
    assert run(python, tmp_path, steps[4]) == "billing has read 1001 orders\n"
    assert run(python, tmp_path, steps[5]) == "11 customers\n"
    assert run(python, tmp_path, steps[6]) == "1001 orders in orders.parquet\n"
    (tmp_path / "test_orders.py").write_text(steps[7])
    pytest_command = [sys.executable, "-m", "pytest", "-q", "-p", "moldau.testing.plugin"]
    assert "1 passed" in run([*pytest_command, "test_orders.py"], tmp_path)
