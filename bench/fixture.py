"""How long a test waits for its broker: the pytest fixture's, and a process of Apache's.

bin/bench fixture [starts]

Apache's broker gets a running ZooKeeper, which is not counted, and no container, which would
come on top. Both are there when they answer; Apache's is started five times.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench.measure import end, print_table

STARTS, APACHE_STARTS = 20, 5
FIXTURE_MS_MAX = 150


def compare(starts: int) -> None:
    """Start so many brokers, one after the other, and print how long they took."""
    began = time.perf_counter()
    from moldau.testing.broker import running_broker

    import_ms = (time.perf_counter() - began) * 1e3
    taken_ms = []
    for _ in range(starts + 1):
        began = time.perf_counter()
        with running_broker({}):
            taken_ms.append((time.perf_counter() - began) * 1e3)
    first_ms, *later_ms = taken_ms
    rows = [
        ("import, once in a test process", f"{import_ms:.0f}"),
        ("first broker", f"{first_ms:.1f}"),
        ("later ones, median", f"{statistics.median(later_ms):.1f}"),
        ("later ones, largest", f"{max(later_ms):.1f}"),
        apache_start(APACHE_STARTS),
    ]
    print_table(f"{starts} starts of the fixture's broker", ("", "ms"), rows)
    is_late = statistics.median(later_ms) >= FIXTURE_MS_MAX
    end([f"the fixture took {statistics.median(later_ms):.0f} ms"] if is_late else [])


def apache_start(starts: int) -> tuple[str, str]:
    """The same of Apache's broker, each on an empty directory with a ZooKeeper of its own."""
    # Not at the top: a test process has not imported any of it.
    from bench.brokers import until_metadata

    from conformance.apache.broker import ApacheBroker, zookeeper
    from conformance.apache.jvm import AS_SHIPPED

    taken_ms = []
    for _ in range(starts):
        with tempfile.TemporaryDirectory() as name, zookeeper(Path(name, "zookeeper")) as port:
            broker = ApacheBroker(Path(name, "apache"), port, {}, AS_SHIPPED)
            broker.directory.mkdir()
            began = time.perf_counter()
            try:
                broker.start()
                until_metadata(broker.port)
                taken_ms.append((time.perf_counter() - began) * 1e3)
            finally:
                broker.kill()
    return f"Apache's process, median of {starts}", f"{statistics.median(taken_ms):.0f}"


if __name__ == "__main__":
    compare(int(sys.argv[1]) if len(sys.argv) > 1 else STARTS)
