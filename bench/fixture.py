"""How long a test waits for its broker: the start of the pytest fixture's, in this process.

bin/bench fixture [starts]
"""

import statistics
import sys
import time

from bench.measure import end, print_table

STARTS = 20
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
    ]
    print_table(f"{starts} starts of the fixture's broker", ("", "ms"), rows)
    is_late = statistics.median(later_ms) >= FIXTURE_MS_MAX
    end([f"the fixture took {statistics.median(later_ms):.0f} ms"] if is_late else [])


if __name__ == "__main__":
    compare(int(sys.argv[1]) if len(sys.argv) > 1 else STARTS)
