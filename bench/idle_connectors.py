"""What connectors cost that have nothing to do, and many small ones that have a little.

bin/bench idle_connectors [connectors] [seconds] [direct|spark]

Tables of SQLite are polled every 5 s, each by a connector of its own, in one worker of Moldau's on
one broker of Moldau's: first nothing changes, then each table gets a row a second. Processor
time and resident memory are those of the worker and all processes that it has started: with
engine=spark a JVM and Spark's workers.
"""

import json
import sqlite3
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import closing
from pathlib import Path

from bench.connect_workers import PLAIN, MeasuredWorker, moldau_worker
from bench.measure import print_table

from conformance.our_broker import our_broker

CONNECTORS, SECONDS = 50, 20


def polling(directory: Path, number: int) -> dict[str, str]:
    return {
        "connector.class": "JdbcSource",
        "connection.url": f"jdbc:sqlite:{directory}/tables",
        "mode": "incrementing",
        "table.whitelist": f"t{number}",
        "topic.prefix": "small-",
        "poll.interval.ms": "5000",
        **PLAIN,
    }


def cores(worker: MeasuredWorker, seconds: float) -> float:
    """How many processors it keeps busy."""
    began_s, began_cpu_s = time.monotonic(), worker.cpu_of_all_s()
    time.sleep(seconds)
    return (worker.cpu_of_all_s() - began_cpu_s) / (time.monotonic() - began_s)


def stored(worker: MeasuredWorker, parts: list[str]) -> int:
    """How many rows are in topics, by the offsets of the connectors."""
    found = 0
    for part in parts:
        with urllib.request.urlopen(f"{worker.connect.url}/connectors/{part}/offsets") as answer:
            offsets = json.load(answer)["offsets"]
        found += sum(int(each["offset"]["incrementing"]) for each in offsets)
    return found


def insert(path: Path, count: int, ends: threading.Event) -> None:
    with closing(sqlite3.connect(path, timeout=60)) as database:
        while not ends.wait(1):
            with database:
                for number in range(count):
                    database.execute(f"INSERT INTO t{number} (word) VALUES ('word')")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CONNECTORS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    engine = sys.argv[3] if len(sys.argv) > 3 else "direct"
    settings = {"engine": engine} | ({"spark.master": "local[2]"} if engine == "spark" else {})
    with (
        tempfile.TemporaryDirectory() as temporary,
        our_broker(Path(temporary, "broker")) as broker,
        moldau_worker(Path(temporary, "moldau"), broker.bootstrap, settings) as worker,
    ):
        path = Path(temporary, "tables")
        with closing(sqlite3.connect(path)) as database, database:
            for number in range(count):
                database.execute(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, word TEXT)")
        alone = worker.memory_of_all_mb()
        parts = [f"small{number}" for number in range(count)]
        for number, part in enumerate(parts):
            worker.make(part, polling(Path(temporary), number))
        worker.until_running(parts)
        time.sleep(5)
        idle = cores(worker, seconds)
        ends = threading.Event()
        inserting = threading.Thread(target=insert, args=(path, count, ends))
        inserting.start()
        time.sleep(5)
        before, began_s = stored(worker, parts), time.monotonic()
        busy = cores(worker, seconds)
        rate = (stored(worker, parts) - before) / (time.monotonic() - began_s)
        ends.set()
        inserting.join()
        memory = worker.memory_of_all_mb()
    rows = [
        ["idle, of a core", f"{idle:.1%}"],
        ["a row a second each, of a core", f"{busy:.1%}"],
        ["rows stored a second meanwhile", f"{rate:.0f}"],
        ["memory without connectors, MB", f"{alone:.0f}"],
        ["memory with them, MB", f"{memory:.0f}"],
    ]
    title = f"{count} connectors that poll every 5 s, engine={engine}"
    print_table(title, ["", "worker"], rows)


if __name__ == "__main__":
    main()
