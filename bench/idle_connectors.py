"""What connectors cost that have nothing to do, and many small ones that have a little.

bin/bench idle_connectors [connectors] [seconds]

Tables of SQLite are polled every 5 s, each by a connector of its own, in one worker of Moldau's on
one broker of Moldau's: first nothing changes, then each table gets a row a second. Processor
time is the worker's, and memory what is resident.
"""

import sqlite3
import sys
import tempfile
import threading
import time
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
    began_s, began_cpu_s = time.monotonic(), worker.cpu_s()
    time.sleep(seconds)
    return (worker.cpu_s() - began_cpu_s) / (time.monotonic() - began_s)


def insert(path: Path, count: int, ends: threading.Event) -> None:
    with closing(sqlite3.connect(path, timeout=60)) as database:
        while not ends.wait(1):
            with database:
                for number in range(count):
                    database.execute(f"INSERT INTO t{number} (word) VALUES ('word')")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CONNECTORS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    with (
        tempfile.TemporaryDirectory() as temporary,
        our_broker(Path(temporary, "broker")) as broker,
        moldau_worker(Path(temporary, "moldau"), broker.bootstrap) as worker,
    ):
        path = Path(temporary, "tables")
        with closing(sqlite3.connect(path)) as database, database:
            for number in range(count):
                database.execute(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, word TEXT)")
        alone = worker.memory_mb()
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
        busy = cores(worker, seconds)
        ends.set()
        inserting.join()
        memory = worker.memory_mb()
    rows = [
        ["idle, of a core", f"{idle:.1%}"],
        ["a row a second each, of a core", f"{busy:.1%}"],
        ["memory without connectors, MB", f"{alone:.0f}"],
        ["memory with them, MB", f"{memory:.0f}"],
    ]
    print_table(f"{count} connectors that poll every 5 s", ["", "worker"], rows)


if __name__ == "__main__":
    main()
