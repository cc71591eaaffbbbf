"""The web console followed by a browser for long: memory of the server and of the page.

bin/bench console_soak [seconds]

One tab follows a topic, ten minutes unless said, to which some 20,000 records of 200 bytes come
each second: far more than a view shows. A fifth of the time is for warming up; from then on both
have to stay as they are. It needs a Chromium, as the tests in a browser do.
"""

import asyncio
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.brokers import moldau
from bench.console import TOPIC, console, fill, table_of
from bench.measure import end, print_table

from browser import Page, browser
from moldau.client.producer.producer import Producer

SECONDS = 600.0
GROWTH_MAX_MB = 10.0
_WARM_SHARE = 0.2
_LOOKS = 8
_PORTION, _PORTION_S = 2000, 0.1


@contextmanager
def flowing(bootstrap: str) -> Iterator[None]:
    """Records come all the time, at one speed."""
    stop = threading.Event()

    async def write() -> None:
        table = table_of(0, _PORTION)
        async with Producer(bootstrap_servers=bootstrap) as producer:
            while not stop.is_set():
                await (await producer.send_table(TOPIC, table))
                await asyncio.sleep(_PORTION_S)

    thread = threading.Thread(target=lambda: asyncio.run(write()))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def page_mb(page: Page) -> float:
    """What the page's scripts hold after what is garbage has gone."""
    page.send("HeapProfiler.collectGarbage")
    return float(page.send("Runtime.getHeapUsage")["usedSize"]) / 2**20


def main() -> None:
    """Follow, look now and then, and compare the end with when it was warm."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    settings = {"log.retention.bytes": str(1 << 28), "log.segment.bytes": str(32 << 20)}
    rows: list[tuple[float, float, float]] = []
    with tempfile.TemporaryDirectory() as folder, moldau(Path(folder), settings) as broker:
        asyncio.run(fill(broker.bootstrap, 10_000))
        with console(broker.bootstrap) as (started, url), browser() as page:
            page.open(f"{url}/c/local/topics/{TOPIC}?start=live")
            with flowing(broker.bootstrap):
                page.see("skipped")
                for look in range(_LOOKS + 1):
                    share = _WARM_SHARE + (1 - _WARM_SHARE) * look / _LOOKS
                    wait_s = seconds * share - (rows[-1][0] if rows else 0.0)
                    threading.Event().wait(wait_s)
                    rows.append((seconds * share, started.memory_mb(), page_mb(page)))
                page.see("● live")
    shown = [[f"{at:.0f}", f"{server:.1f}", f"{tab:.1f}"] for at, server, tab in rows]
    print_table("A live view", ["seconds", "server, MB", "page, MB"], shown)
    growths = [("server", rows[-1][1] - rows[0][1]), ("page", rows[-1][2] - rows[0][2])]
    end([f"the {name} grew by {by:.1f} MB" for name, by in growths if by > GROWTH_MAX_MB])


if __name__ == "__main__":
    main()
