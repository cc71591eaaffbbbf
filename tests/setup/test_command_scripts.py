"""The scripts in `bin/` with Kafka's names each run a command that there is."""

import os
import re
from pathlib import Path

import pytest

from moldau.cli.main import commands

BIN = Path(__file__).resolve().parents[2] / "bin"
SCRIPTS = sorted(
    path
    for path in BIN.glob("*.sh")
    if not path.name.endswith(("server-start.sh", "server-stop.sh"))
)
USED = """
    topics console-producer console-consumer consumer-groups configs get-offsets delete-records
    log-dirs dump-log reassign-partitions leader-election preferred-replica-election
    broker-api-versions cluster transactions acls delegation-tokens producer-perf-test
    consumer-perf-test verifiable-producer verifiable-consumer run-class
"""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_runs_its_command(script: Path) -> None:
    found = re.search(r'/moldau" ([a-z-]+) "\$@"\n$', script.read_text())
    assert found is not None
    assert found[1] in commands()
    assert os.access(script, os.X_OK)


def test_every_name_that_people_use_is_there() -> None:
    names = {f"kafka-{name}.sh" for name in USED.split()} | {"zookeeper-shell.sh", "zkCli.sh"}
    assert names <= {path.name for path in SCRIPTS}
