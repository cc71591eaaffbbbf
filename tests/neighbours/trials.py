"""What can be tried: frameworks, programs that print what they have seen, Java's connectors."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from conformance.clients.programs import go_program, node_program
from conformance.our_broker import our_broker
from neighbours.capture import capture_changes
from neighbours.copied import bytewax, celery, faststream, faust, quix
from neighbours.exporting import export_lag
from neighbours.mirroring import mirror_cluster

SOURCES = Path(__file__).parent
_DEADLINE_S = 120


def nestjs(directory: Path) -> None:
    command = node_program("nestjs", "trial.js", sources=SOURCES, build=["npx", "tsc"])
    expect("100 events, sum 6", command, directory)


def platformatic(directory: Path) -> None:
    expect("100 orders", node_program("platformatic", "trial.mjs", sources=SOURCES), directory)


def watermill(directory: Path) -> None:
    expect("100 invoices", go_program("watermill", sources=SOURCES), directory)


def goka(directory: Path) -> None:
    expect("100 words counted", go_program("goka", sources=SOURCES), directory)


def expect(last_line: str, command: list[str], directory: Path) -> None:
    """Run a program against a broker, and compare the last line that it prints."""
    with our_broker(directory / "broker") as broker:
        done = subprocess.run(
            command,
            env={
                **os.environ,
                "BOOTSTRAP": broker.bootstrap,
                "KAFKAJS_NO_PARTITIONER_WARNING": "1",
            },
            cwd=directory,
            stdout=subprocess.PIPE,
            text=True,
            timeout=_DEADLINE_S,
            check=False,
        )
    printed = done.stdout.strip().splitlines()
    if done.returncode or printed[-1:] != [last_line]:
        raise AssertionError(f"exit code {done.returncode}, printed {printed[-5:]}")


TRIALS: dict[str, Callable[[Path], None]] = {
    "faststream": faststream,
    "quix": quix,
    "bytewax": bytewax,
    "faust": faust,
    "celery": celery,
    "nestjs": nestjs,
    "platformatic": platformatic,
    "watermill": watermill,
    "goka": goka,
    "mirrormaker": mirror_cluster,
    "debezium": capture_changes,
    "kafka_exporter": export_lag,
}
