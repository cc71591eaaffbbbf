"""Kills what an exactly-once query needs, at random moments, and compares output with input.

bin/chaos                     20 kills: of drivers, executors, Python workers and the broker
bin/chaos --kills 100         more of them
bin/chaos --seed 7            the same choices again, as far as processes allow
bin/chaos --without-keys      rows that are free to go to any partition
bin/chaos --standalone        executors of a standalone cluster, which outlives its drivers
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from conformance.our_broker import OurBroker, our_broker
from conformance.processes import children_of
from conformance.spark_pipeline import Pipeline, as_argument, committed, fill, size_of
from conformance.spark_standalone import EXECUTOR, Standalone, standalone

MASTER = "local-cluster[2,1,1024]"
CONFIGURATION = {
    "spark.executor.memory": "512m",
    "spark.task.maxFailures": "4",
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.multiplier": "1.2",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.minTaskRuntime": "100ms",
}
BROKER = {
    "num.partitions": "5",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
ROWS_PER_KILL = 2000
PAUSE_S = 0.3
LATER_S_MAX = 2.0
_POLL_S = 0.1
_WORKER = b"pyspark.daemon"


@dataclass(slots=True)
class Driver:
    """The process of a query, with everything that it starts."""

    pipeline: Pipeline
    cluster: Standalone | None = None
    """Where executors are, if the driver does not start them itself."""
    starts: int = 0
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin, or go on from the checkpoint."""
        self.starts += 1
        self._process = subprocess.Popen(
            [sys.executable, "-m", "conformance.spark_pipeline", as_argument(self.pipeline)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            start_new_session=True,
        )

    def is_done(self) -> bool:
        """Whether all is written; a query that failed is started again."""
        assert self._process is not None
        status = self._process.poll()
        if status:
            self.kill()
            self.start()
        return status == 0

    def executors(self) -> list[int]:
        """The processes that run the tasks."""
        return self._members(EXECUTOR) if self.cluster is None else self.cluster.executors()

    def workers(self) -> list[int]:
        """The Python processes of tasks, by the process that starts them."""
        if self.cluster is None:
            return self._members(_WORKER)
        return [pid for each in self.executors() for pid in children_of(each, _WORKER)]

    def _members(self, kind: bytes) -> list[int]:
        return [each for each in self._all() if kind in _command(each)]

    def kill(self) -> None:
        """End it, and all that it has started, as a crash would."""
        assert self._process is not None
        for process_id in self._all():
            _kill(process_id)
        self._process.kill()
        self._process.wait()

    def _all(self) -> list[int]:
        assert self._process is not None
        numbers = (int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit())
        return [each for each in numbers if _session(each) == self._process.pid]


@dataclass(slots=True)
class Chaos:
    """What is killed, one after the other."""

    broker: OurBroker
    driver: Driver
    choice: random.Random
    kills: Counter[str] = field(default_factory=Counter)

    def run(self, kill_count: int) -> None:
        """Kill so often, each time while rows are being written, then let the query end."""
        self.driver.start()
        while self.kills.total() < kill_count and self._gets_on():
            time.sleep(self.choice.uniform(0, LATER_S_MAX))
            victim = self.choice.choice(["driver", "executor", "worker", "broker"])
            if self._kill(victim):
                self.kills[victim] += 1
                print(f"{self.kills.total()}: killed a {victim}", flush=True)
        while not self.driver.is_done():
            time.sleep(_POLL_S)

    def _gets_on(self) -> bool:
        """Whether more was written, and not everything yet; waits until either is so."""
        before = size_of(self.driver.pipeline)
        while size_of(self.driver.pipeline) == before:
            if self.driver.is_done():
                return False
            time.sleep(_POLL_S)
        return True

    def _kill(self, victim: str) -> bool:
        if victim == "broker":
            self.broker.kill()
            self.broker.start()
            return True
        if victim == "driver":
            self.driver.kill()
            self.driver.start()
            return True
        found = self.driver.executors() if victim == "executor" else self.driver.workers()
        if found:
            _kill(self.choice.choice(found))
        return bool(found)


def main() -> int:
    options = _options(sys.argv[1:])
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        place = Path(directory)
        cluster = stack.enter_context(standalone(place)) if options.standalone else None
        broker = stack.enter_context(our_broker(place / "broker", BROKER))
        return _play(options, broker, place, cluster)


def _play(
    options: argparse.Namespace, broker: OurBroker, place: Path, cluster: Standalone | None
) -> int:
    # What executors of a driver's own have from it, others have to be told.
    paths = os.pathsep.join(path for path in sys.path if path)
    told = {"spark.executorEnv.PYTHONPATH": paths, "spark.driver.host": "127.0.0.1"}
    pipeline = Pipeline(
        broker.bootstrap,
        "in",
        "out",
        str(place / "checkpoint"),
        has_keys=not options.without_keys,
        pause_s=PAUSE_S,
        master=MASTER if cluster is None else cluster.address,
        configuration=CONFIGURATION if cluster is None else CONFIGURATION | told,
    )
    expected = fill(pipeline.servers, "in", options.kills * ROWS_PER_KILL)
    chaos = Chaos(broker, Driver(pipeline, cluster), random.Random(options.seed))
    chaos.run(options.kills)
    found = committed(pipeline.servers, "out")
    missing, extra = expected - found, found - expected
    print(
        f"seed {options.seed}: {expected.total()} rows, {dict(chaos.kills)} killed, "
        f"{chaos.driver.starts} starts of the query; {missing.total()} rows are missing, "
        f"{extra.total()} are there too often"
    )
    return 1 if missing or extra else 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bin/chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--without-keys", action="store_true")
    parser.add_argument("--standalone", action="store_true")
    return parser.parse_args(arguments)


def _kill(process_id: int) -> None:
    with suppress(ProcessLookupError):  # it may have been quicker
        os.kill(process_id, signal.SIGKILL)


def _session(process_id: int) -> int:
    try:
        return os.getsid(process_id)
    except ProcessLookupError:
        return 0


def _command(process_id: int) -> bytes:
    try:
        return Path(f"/proc/{process_id}/cmdline").read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    sys.exit(main())
