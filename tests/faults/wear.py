"""F33, F34 and F36: nothing unusual, again and again."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from conformance.our_cluster import until
from faults.fault import fault
from faults.stage import Stage
from moldau.protocol.headers import RequestHeader, encode_request_header
from simulation.client import TOPIC

_CONNECTS_PER_S = 200
_CHURN_S = 10.0
_CALM_S = 20.0
_SPARE_FILES = 10
_VICTIM = (
    "import sys; from confluent_kafka import Consumer;"
    "c = Consumer({'bootstrap.servers': sys.argv[1], 'group.id': 'victims',"
    " 'session.timeout.ms': 6000});"
    "c.subscribe([sys.argv[2]]);\nwhile True: c.poll(0.1)"
)


@fault(pause_max_s=5.0)
def f33(stage: Stage) -> None:
    """All brokers are restarted, one after the other."""
    for _ in range(stage.rounds):
        for broker in stage.cluster.brokers.values():
            broker.stop()
            broker.start()
            stage.until_whole()
    assert stage.load.errors == [], stage.load.errors


@fault()
def f34(stage: Stage) -> None:
    """Two hundred connections a second come and go, and consumers are killed in the middle."""
    before = {number: _open_files(stage, number) for number in stage.cluster.brokers}
    count = 0
    deadline = time.monotonic() + _CHURN_S * stage.rounds
    while time.monotonic() < deadline:
        command = [sys.executable, "-c", _VICTIM, stage.cluster.bootstrap, TOPIC]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as victim:
            count += _come_and_go(stage, 1.0)
            victim.kill()
    for number, files in before.items():
        until(
            lambda: _open_files(stage, number) <= files + _SPARE_FILES,  # noqa: B023
            f"broker {number} closes what nobody uses: {files} files before",
        )
    stage.notes.append(f"{count:,} connections")


def _come_and_go(stage: Stage, duration_s: float) -> int:
    """Connect, say something or half of it, and hang up; returns how often."""
    whole = encode_request_header(RequestHeader(18, 0, 1, "churn"))
    whole = len(whole).to_bytes(4, "big") + whole
    brokers = list(stage.cluster.brokers.values())
    began_s, count = time.monotonic(), 0
    while (elapsed_s := time.monotonic() - began_s) < duration_s:
        if count > elapsed_s * _CONNECTS_PER_S:
            time.sleep(1 / _CONNECTS_PER_S)
            continue
        with socket.create_connection(("127.0.0.1", brokers[count % 3].port)) as connection:
            connection.sendall(whole[: len(whole) // (1 + count % 2)])
        count += 1
    return count


def _open_files(stage: Stage, number: int) -> int:
    return len(os.listdir(Path("/proc") / str(stage.cluster.brokers[number].process_id) / "fd"))


@fault(pause_max_s=5.0)
def f36(stage: Stage) -> None:
    """Nothing happens at all."""
    time.sleep(_CALM_S * stage.rounds)
    assert stage.load.errors == [], stage.load.errors
