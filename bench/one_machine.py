"""What more brokers on one machine bring, with `moldau serve --brokers N`, beside Apache's broker.

bin/bench one_machine [rounds] [brokers...]

The contestants run side by side and take turns. The clients are C programs with raw requests, one
for each broker, on the same cores: commits of 50 groups on 50 connections, and requests of one
small record on 200. Start, stop and the supervisor's memory are those of each cluster.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.measure import print_table
from bench.several import Brokers, commits, single

from conformance.apache.broker import ApacheBroker, free_port, zookeeper
from conformance.apache.jvm import AS_SHIPPED

ROUNDS = 5
BROKERS = (1, 2, 3)
_START_S = 60
_COMMITS, _SINGLES = 60_000, 120_000
_SETTINGS = {
    "offsets.topic.num.partitions": "12",
    "offsets.topic.replication.factor": "1",
    "log.segment.bytes": str(2**28),
}


class Cluster:
    """`moldau serve --brokers N` in a directory of its own."""

    def __init__(self, count: int, data: Path) -> None:
        self.ports = {number: free_port() for number in range(count)}
        self.log = (data.parent / f"{data.name}.log").open("w+")
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "moldau", "serve", "--brokers", str(count)),
                *("--ports", ",".join(map(str, self.ports.values())), "--data", str(data)),
                *(f"--override={name}={text}" for name, text in _SETTINGS.items()),
            ],
            stdin=subprocess.DEVNULL,
            stderr=self.log,
            env={**os.environ, "PYTHONPATH": "src"},
        )
        path = Path(self.log.name)
        while "brokers have started" not in path.read_text():
            assert self.process.poll() is None, path.read_text()
            assert time.perf_counter() - began < _START_S, path.read_text()
            time.sleep(0.02)
        self.start_s = time.perf_counter() - began

    def processes(self) -> dict[int, int]:
        """The brokers' processes by their ids."""
        found = {}
        task = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for each in task.read_text().split():
            words = Path(f"/proc/{each}/cmdline").read_text()
            number = re.search(r"broker-(\d+)\.properties", words)
            assert number is not None, words
            found[int(number[1])] = int(each)
        return found

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


@contextmanager
def cluster(count: int, directory: Path) -> Iterator[Cluster]:
    """A cluster that is stopped in the end."""
    made = Cluster(count, directory / f"moldau-{count}")
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.stop()


@contextmanager
def apache(directory: Path) -> Iterator[Brokers]:
    """A broker of Apache's as it ships."""
    with zookeeper(directory / "zookeeper") as port:
        place = directory / "apache"
        place.mkdir()
        broker = ApacheBroker(place, port, _SETTINGS, AS_SHIPPED)
        try:
            broker.start()
            yield Brokers({1: broker.port})
        finally:
            broker.kill()


class Work(NamedTuple):
    """What is measured: a rate."""

    name: str
    run: Callable[[Brokers], float]


WORKS = (
    Work("commits/s, 50 connections", lambda brokers: commits(brokers, 50, _COMMITS)),
    Work("single records/s, 200 connections", lambda brokers: single(brokers, 200, _SINGLES)),
)


def main(rounds: int, counts: tuple[int, ...]) -> None:
    """Measure each number of brokers, and print the tables."""
    rates: dict[tuple[str, str], list[float]] = {}
    lives = []
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        directory = Path(name)
        contestants = {"Apache": stack.enter_context(apache(directory))}
        clusters = {count: stack.enter_context(cluster(count, directory)) for count in counts}
        contestants |= {f"{count} of ours": Brokers(one.ports) for count, one in clusters.items()}
        for brokers in contestants.values():
            brokers.prepare()
        for work in WORKS:
            for _ in range(rounds):
                for contestant, brokers in contestants.items():
                    rates.setdefault((work.name, contestant), []).append(work.run(brokers))
        for count, one in clusters.items():
            memory = one.memory_mb()
            lives.append((str(count), f"{one.start_s:.1f}", f"{one.stop():.1f}", f"{memory:.0f}"))
    rows = []
    for work in WORKS:
        found = {each: median(rates[work.name, each]) for each in contestants}
        first = found[f"{counts[0]} of ours"]
        rows += [
            (
                work.name,
                each,
                f"{rate:,.0f}",
                f"{rate / first:.2f}",
                f"{rate / found['Apache']:.2f}",
            )
            for each, rate in found.items()
        ]
    title = f"{os.cpu_count()} cores, medians of {rounds} rounds"
    print_table(title, ("", "brokers", "rate", "times our first", "times Apache"), rows)
    print_table("Their lives", ("brokers", "start s", "stop s", "supervisor MB"), lives)


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:]]
    main(numbers[0] if numbers else ROUNDS, tuple(numbers[1:]) or BROKERS)
