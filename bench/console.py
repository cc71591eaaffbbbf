"""The web console: its first page, memory, a search through many records, a fast topic live.

bin/bench console [records] [seconds]

The first page is what a browser loads before it shows the overview: files, one after the other,
and the data of the overview. A list of topics is that of 1,000 with ten partitions each.

Records are JSON of 200 bytes in four partitions. A search looks for a text that none has, from
the oldest on, and goes on wherever its budget ended; processor time is that of the console
alone. Then the topic is written to as fast as one producer can, while one tab follows it for
some seconds, sixty unless said: its memory must stay flat, and most of the topic is skipped.
"""

import asyncio
import gzip
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from bench.brokers import Contestant, moldau
from bench.measure import end, print_table

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.producer.producer import Producer

RECORDS, SECONDS = 2_000_000, 60.0
PARTITIONS = 4
IDLE_MAX_MB, SCANNING_MAX_MB = 80.0, 250.0
SEARCH_MIN_PER_S = 1e6
LIVE_MAX_SHARE, GROWTH_MAX_MB = 0.3, 20.0
PAGE_MAX_S, PAGE_MAX_BYTES, LIST_MAX_S = 1.0, 60_000, 0.15
LISTED = 1000
TOPIC = "searched"
_AT_ONCE = 20_000
_WARM_SHARE = 0.3


@dataclass(slots=True)
class Search:
    """One search to its end."""

    scanned: int = 0
    requests: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0


@dataclass(slots=True)
class View:
    """One live view."""

    shown: int = 0
    skipped: int = 0
    cpu_share: float = 0.0
    growth_mb: float = 0.0
    """From when it was warm to the end."""


def table_of(start: int, count: int) -> pa.Table:
    """Records of 200 bytes."""
    values = []
    for number in range(start, start + count):
        text = f'{{"id": {number}, "user": "user-{number % 1000}", "note": "'
        values.append(f"{text}{'x' * (198 - len(text))}" + '"}')
    return pa.table({"value": values})


async def fill(bootstrap: str, count: int) -> None:
    """The topic with its records."""
    async with Admin(bootstrap_servers=bootstrap) as admin:
        (await admin.create_topics([NewTopic(TOPIC, PARTITIONS)])).check()
        for start in range(0, LISTED, 100):
            topics = [NewTopic(f"listed-{start + each}", 10) for each in range(100)]
            (await admin.create_topics(topics)).check()
    async with Producer(bootstrap_servers=bootstrap) as producer:
        for start in range(0, count, _AT_ONCE):
            table = table_of(start, min(_AT_ONCE, count - start))
            partition = start // _AT_ONCE % PARTITIONS
            await (await producer.send_table(TOPIC, table, partition=partition))


@contextmanager
def console(bootstrap: str) -> Iterator[tuple[Contestant, str]]:
    """A console that answers."""
    began = time.monotonic()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "moldau", "console", "--port=0", "--log-level=warning"),
            f"--bootstrap-server={bootstrap}",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        with urllib.request.urlopen(url) as answer:
            answer.read()
        port = int(url.rpartition(":")[2])
        yield Contestant("console", port, process.pid, time.monotonic() - began), url
    finally:
        process.terminate()
        process.wait()


@dataclass(slots=True)
class FirstPage:
    """What a browser waits for."""

    seconds: float = 0.0
    bytes: int = 0


def first_page(url: str) -> FirstPage:
    """The page with all files that it names, compressed, and then its data."""
    began, page = time.monotonic(), FirstPage()
    wanted, seen = ["/c/local"], set[str]()
    while wanted:
        path = wanted.pop()
        seen.add(path)
        request = urllib.request.Request(url + path, headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request) as answer:
            data = answer.read()
            is_packed = answer.headers["Content-Encoding"] == "gzip"
        page.bytes += len(data)
        text = (gzip.decompress(data) if is_packed else data).decode()
        named = re.findall(r'(?:href|src)="(/static/[^"]+)"', text)
        named += re.findall(r'": "(/static/[^"]+)"', text)
        named += [
            urllib.parse.urljoin(path, each) for each in re.findall(r'from "(\.[^"]+)"', text)
        ]
        wanted += [each for each in dict.fromkeys(named) if each not in seen and each not in wanted]
    for path in ("/api/console", "/api/clusters/local"):
        with urllib.request.urlopen(url + path) as answer:
            answer.read()
    page.seconds = time.monotonic() - began
    return page


def listed_s(url: str) -> float:
    """The median time of a list of topics."""
    times = []
    for _ in range(9):
        began = time.monotonic()
        with urllib.request.urlopen(f"{url}/api/clusters/local/topics") as answer:
            answer.read()
        times.append(time.monotonic() - began)
    return sorted(times)[4]


def search(started: Contestant, url: str) -> Search:
    """Look through the whole topic for what is not there."""
    found = Search()
    cpu_s, began_s = started.cpu_s(), time.monotonic()
    cursor = ""
    while True:
        query = urllib.parse.urlencode({"filter": "nowhere", "start": "oldest", "cursor": cursor})
        path = f"{url}/api/clusters/local/topics/{TOPIC}/messages?{query}"
        with urllib.request.urlopen(path) as answer:
            said = json.loads(answer.read().splitlines()[-1])["end"]
        found.scanned += said["scanned"]
        found.requests += 1
        cursor = said["cursor"]
        if not cursor:
            break
    found.cpu_s, found.wall_s = started.cpu_s() - cpu_s, time.monotonic() - began_s
    return found


@asynccontextmanager
async def firehose(bootstrap: str) -> AsyncIterator[None]:
    """The topic is written to as fast as one producer can."""
    table = table_of(0, _AT_ONCE)

    async def write() -> None:
        async with Producer(bootstrap_servers=bootstrap) as producer:
            while True:
                await (await producer.send_table(TOPIC, table))

    writing = asyncio.create_task(write())
    try:
        yield
    finally:
        writing.cancel()


async def follow(started: Contestant, seconds: float) -> View:
    """Take what a live view sends."""
    view = View()
    reader, writer = await asyncio.open_connection("localhost", started.port)
    path = f"/api/clusters/local/topics/{TOPIC}/live"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    began_s, warm_mb, cpu_s = time.monotonic(), 0.0, started.cpu_s()
    while (spent_s := time.monotonic() - began_s) < seconds:
        line = await reader.readline()
        if line.startswith(b'data: {"rows"'):
            said = json.loads(line[6:])
            view.shown += len(said["rows"])
            view.skipped += said["jumped"] + said["dropped"]
        if not warm_mb and spent_s > seconds * _WARM_SHARE:
            warm_mb = started.memory_mb()
    view.cpu_share = (started.cpu_s() - cpu_s) / (time.monotonic() - began_s)
    view.growth_mb = started.memory_mb() - warm_mb
    writer.close()
    return view


async def followed(broker: Contestant, started: Contestant, seconds: float) -> View:
    """A live view beside the firehose."""
    async with firehose(broker.bootstrap):
        return await follow(started, seconds)


def main() -> None:
    """Measure, print and compare with the aims."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    settings = {"log.retention.bytes": str(1 << 30), "log.segment.bytes": str(64 << 20)}
    with tempfile.TemporaryDirectory() as folder, moldau(Path(folder), settings) as broker:
        asyncio.run(fill(broker.bootstrap, count))
        with console(broker.bootstrap) as (started, url):
            page = first_page(url)
            list_s = listed_s(url)
            idle_mb = started.memory_mb()
            with urllib.request.urlopen(f"{url}/api/clusters/local/topics/{TOPIC}/messages") as one:
                one.read()  # the first look imports Arrow
            found = search(started, url)
            scanning_mb = started.memory_mb()
            view = asyncio.run(followed(broker, started, seconds))
    per_s = found.scanned / found.cpu_s
    rows = [
        ["from the command to the first answer", f"{started.start_s:.2f} s"],
        ["the first page and its data", f"{page.seconds * 1000:.0f} ms"],
        ["files of the first page, compressed", f"{page.bytes:,} B"],
        [f"a list of {LISTED:,} topics with ten partitions each", f"{list_s * 1000:.0f} ms"],
        ["memory idle", f"{idle_mb:.0f} MB"],
        ["memory after the search", f"{scanning_mb:.0f} MB"],
        ["records searched per second of processor time", f"{per_s / 1e6:.2f} M"],
        ["the search, from start to end", f"{found.wall_s:.1f} s"],
        ["records of the live view shown", f"{view.shown:,}"],
        ["and skipped", f"{view.skipped:,}"],
        ["share of a core for the live view", f"{view.cpu_share:.0%}"],
        ["growth of memory while it was warm", f"{view.growth_mb:.1f} MB"],
    ]
    print_table(f"{found.scanned:,} records, in {found.requests} looks", ["", "console"], rows)
    misses = [
        text
        for is_missed, text in (
            (started.start_s + page.seconds > PAGE_MAX_S, f"a page {PAGE_MAX_S:g} s after a start"),
            (page.bytes > PAGE_MAX_BYTES, f"a first page of {PAGE_MAX_BYTES:,} bytes"),
            (list_s > LIST_MAX_S, f"a list within {LIST_MAX_S * 1000:.0f} ms"),
            (idle_mb > IDLE_MAX_MB, f"at most {IDLE_MAX_MB:.0f} MB idle"),
            (scanning_mb > SCANNING_MAX_MB, f"at most {SCANNING_MAX_MB:.0f} MB searching"),
            (per_s < SEARCH_MIN_PER_S, "a million records per second of processor time"),
            (view.cpu_share > LIVE_MAX_SHARE, f"a live view for {LIVE_MAX_SHARE:.0%} of a core"),
            (view.growth_mb > GROWTH_MAX_MB, f"growth of at most {GROWTH_MAX_MB:.0f} MB"),
        )
        if is_missed
    ]
    end(misses)


if __name__ == "__main__":
    main()
