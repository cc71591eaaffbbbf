"""The scripts in `bin/` with Kafka's names each run a command that there is."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from moldau.cli.main import commands

BIN = Path(__file__).resolve().parents[2] / "bin"
SCRIPTS = sorted(
    path
    for path in BIN.glob("*.sh")
    if not path.name.endswith(("server-start.sh", "server-stop.sh"))
)
TOOLS = (
    "bench",
    "branches",
    "chaos",
    "docs",
    "faults",
    "fuzz",
    "lock",
    "mutate",
    "moldau",
    "neighbours",
    "quickstart",
    "simulate",
    "test",
    "wheels",
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


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """The scripts in a clone whose Python says how it was called."""
    root = tmp_path / "a clone"
    shutil.copytree(BIN, root / "bin")
    python, stamp = root / ".venv" / "bin" / "python", root / ".venv" / "stamps" / "base"
    for path in (python, stamp):
        path.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho ran "$@"\n')
    python.chmod(0o755)
    stamp.write_text(f"{hashlib.sha256(python.read_bytes()).hexdigest()}  {python}\n")
    return root / "bin"


@pytest.mark.parametrize("way", ["by its path", "by its name", "by a shell", "by a link"])
def test_a_script_finds_its_clone_however_it_is_called(
    way: str, scripts: Path, tmp_path: Path
) -> None:
    link = tmp_path / "topics"
    link.symlink_to(scripts / "kafka-topics.sh")
    command = {
        "by its path": ["./kafka-topics.sh"],
        "by its name": ["env", "kafka-topics.sh"],
        "by a shell": ["sh", "kafka-topics.sh"],
        "by a link": [str(link)],
    }[way]
    environment = os.environ | {"PATH": f"{scripts}:{os.environ['PATH']}", "MOLDAU_PURE": ""}
    done = subprocess.run(
        [*command, "--list", "a b"],
        cwd=scripts,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("ran -m moldau topics --list a b\n", "")


@pytest.mark.parametrize("name", ["kafka-server-stop.sh", "zookeeper-server-stop.sh"])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_whoever_asks_how_to_stop_servers_stops_none(name: str, option: str, scripts: Path) -> None:
    done = subprocess.run(
        [str(scripts / name), option], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: bin/{name}")


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_says_how_it_is_used(name: str, option: str) -> None:
    done = subprocess.run([str(BIN / name), option], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ") or f"\nbin/{name} " in done.stdout


def test_every_script_is_asked_how_it_is_used() -> None:
    """Those of Kafka hand the question on to a command, see tests/unit/cli/test_main.py."""
    others = {path.name for path in BIN.iterdir() if path.is_file() and path.suffix != ".sh"}
    # That is Python's own.
    assert others - {"python"} == set(TOOLS)


def test_every_name_that_people_use_is_there() -> None:
    names = {f"kafka-{name}.sh" for name in USED.split()} | {"zookeeper-shell.sh", "zkCli.sh"}
    assert names <= {path.name for path in SCRIPTS}
