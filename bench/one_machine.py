"""What more brokers on one machine bring: single-record requests with `moldau serve --brokers N`.

bin/bench one_machine [seconds] [brokers...]

For each number of brokers a cluster is started, and one client process for each broker keeps
its connections busy with Produce requests of one small record, acknowledged by the leader. The
clients use the same cores: only where there are more cores than brokers and clients together
does it show what the brokers can do.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.measure import print_table
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from conformance.apache.broker import free_port

SECONDS = 5
BROKERS = (1, 2, 3)
_PARTITIONS = 8
_START_S = 60


class Cluster:
    """`moldau serve --brokers N` in a directory of its own."""

    def __init__(self, count: int, data: Path) -> None:
        ports = [free_port() for _ in range(count)]
        self.bootstrap = ",".join(f"localhost:{port}" for port in ports)
        self.log = (data.parent / f"{data.name}.log").open("w+")
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "moldau", "serve", "--brokers", str(count)),
                *("--ports", ",".join(map(str, ports)), "--data", str(data)),
            ],
            stdin=subprocess.DEVNULL,
            stderr=self.log,
            env={**os.environ, "PYTHONPATH": "src"},
        )
        path = Path(self.log.name)
        while "brokers have started" not in path.read_text():
            assert self.process.poll() is None, path
            assert time.perf_counter() - began < _START_S, path
            time.sleep(0.02)
        self.start_s = time.perf_counter() - began

    def memory_mb(self) -> float:
        """Of the supervisor alone."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        assert found is not None
        return int(found[1]) / 1024

    def stop(self) -> float:
        """Stop cleanly; how long it took."""
        began = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(_START_S)
        self.log.close()
        return time.perf_counter() - began


def produce(bootstrap: str, seconds: float) -> int:
    """How many requests of one record were acknowledged; run in a process of its own."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "acks": "1", "linger.ms": 0, "batch.num.messages": 1}
    )
    answered = 0

    def count(error: object, _: object) -> None:
        nonlocal answered
        answered += error is None

    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        number += 1
        producer.produce("t", b"x" * 100, partition=number % _PARTITIONS, on_delivery=count)
        producer.poll(0 if len(producer) < 200 else 0.01)
    producer.flush(_START_S)
    return answered


async def measure(count: int, seconds: float) -> tuple[float, float, float, float]:
    """Requests per second, start and stop in seconds, memory of the supervisor."""
    with tempfile.TemporaryDirectory() as directory:
        cluster = Cluster(count, Path(directory) / "data")
        try:
            admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
            for made in admin.create_topics([NewTopic("t", _PARTITIONS, 1)]).values():
                made.result(_START_S)
            began = time.perf_counter()
            clients = [
                await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "bench.one_machine", "--client"),
                    *(cluster.bootstrap, str(seconds)),
                    stdout=asyncio.subprocess.PIPE,
                )
                for _ in range(count)
            ]
            answers = [(await client.communicate())[0] for client in clients]
            rate = sum(map(int, answers)) / (time.perf_counter() - began)
            memory = cluster.memory_mb()
        finally:
            stop_s = cluster.stop()
    return rate, cluster.start_s, stop_s, memory


def main(seconds: float, counts: tuple[int, ...]) -> None:
    """Measure each number of brokers, and print a table."""
    found = [(count, asyncio.run(measure(count, seconds))) for count in counts]
    first = found[0][1][0]
    rows = [
        (
            str(count),
            f"{rate:,.0f}",
            f"{rate / first:.2f}",
            f"{start:.1f}",
            f"{stop:.1f}",
            f"{mb:.0f}",
        )
        for count, (rate, start, stop, mb) in found
    ]
    columns = ("brokers", "requests/s", "times the first", "start s", "stop s", "supervisor MB")
    print_table(f"Single records, acks=1, {os.cpu_count()} cores", columns, rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--client"]:
        print(produce(sys.argv[2], float(sys.argv[3])))
    else:
        numbers = [int(each) for each in sys.argv[1:]]
        main(numbers[0] if numbers else SECONDS, tuple(numbers[1:]) or BROKERS)
