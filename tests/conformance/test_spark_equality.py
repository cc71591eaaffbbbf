"""A job that changes one word reads the same: our source beside Spark's own, on the same topics."""

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from conformance.apache.jars import jar_paths
from conformance.apache.marks import needs_apache
from conformance.conftest import show_download
from conformance.spark_connector import REFUSED
from conformance.spark_topics import CLEANING, produce_all
from moldau.client import java_settings
from moldau.client.java_classes import OF_CONSUMERS, OF_PRODUCERS
from moldau.client.settings import ClientSettings, ConsumerSettings, ProducerSettings, dotted
from moldau.testing.broker import running_broker

CONNECTOR = "spark-connector-4.2"
pytestmark = [needs_apache(CONNECTOR), pytest.mark.timeout(1200)]


def test_our_source_reads_and_refuses_what_sparks_own_does(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    show_download(request, CONNECTOR)
    with running_broker(CLEANING) as broker:
        produced = produce_all(broker)
        found = run_driver(broker.bootstrap_servers, tmp_path / "found.json")
    theirs, ours = found["read_committed"]
    assert ours == theirs
    assert len(ours) == 1 + len(produced)
    theirs, ours = found["read_uncommitted"]
    assert ours == theirs
    assert len(ours) > 1 + len(produced), "what was aborted is there too"
    assert found["refused"] == [[True, True]] * len(REFUSED)
    assert known(ConsumerSettings) >= {*found["consumer"]}
    assert known(ProducerSettings) >= {*found["producer"]}


def known(kind: type[ClientSettings]) -> set[str]:
    """Every setting that is used, left out or refused with a reason."""
    functions = OF_CONSUMERS if kind is ConsumerSettings else OF_PRODUCERS
    javas = java_settings.HARMLESS.keys() | java_settings.REFUSED.keys()
    return {dotted(field.name) for field in fields(kind)} | javas | {*functions}


def run_driver(bootstrap: str, file: Path) -> dict[str, Any]:
    """In a process of its own: a JVM that runs already takes no more jars."""
    jars = ",".join(map(str, jar_paths(CONNECTOR)))
    run = subprocess.run(
        [sys.executable, "-m", "conformance.spark_connector", jars, bootstrap, str(file)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        check=False,
    )
    causes = [line for line in run.stderr.splitlines() if not line.startswith("\tat ")]
    assert run.returncode == 0, "\n".join(causes)
    found: dict[str, Any] = json.loads(file.read_text())
    return found
