"""The applications of the soak: what they are sent, and what has to come out."""

import os
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError

from bench.soak_samples import (
    descendants,
    directory_mb,
    heap_after_collection_mb,
    is_java,
    memory_mb,
    open_files,
)

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking import Producer
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.model import TopicPartition

LINES, PEOPLE = "lines", "people"
_OUTPUTS = ("words", "windows", "join")
_KEYS = 100
_WORDS = 50
_PORTION_S = 0.1
_LEAST_S = 1.0
_START_S = 120.0
_LAST_CHARACTERS = 4_000
_APPS = {
    "words": r"""
words = lines.flat_map_values("split(value, ' ')")
words.group_by("value").count(store="counts").to_stream().to("words", key=STRING, value=LONG)
""",
    "windows": r"""
minutes = TimeWindows.of_size_and_grace(60_000, 10_000)
lines.group_by_key().windowed_by(minutes).count().to_stream().to("windows")
""",
    "join": r"""
lines.join(builder.table("people"), "concat(right, ':', left)").to("join")
""",
}
_FRAME = """
from moldau.streams import LONG, STRING, StreamsBuilder, TimeWindows

builder = StreamsBuilder()
lines = builder.stream("lines")
{flow}
topology = builder.build()
"""


@dataclass(slots=True)
class Sent:
    """What was sent so far."""

    lines: int = 0
    words: Counter[bytes] = field(default_factory=Counter)


@dataclass(slots=True)
class Application:
    """A `moldau streams run` with all that it starts."""

    name: str
    pid: int
    checkpoint: Path
    metrics: str
    notes: Path
    _heap_mb: float = 0.0

    def sample(self, *, collects: bool) -> dict[str, float]:
        """Its figures now; the heap is that of the last collection."""
        below = descendants(self.pid)
        java = [each for each in below if is_java(each)]
        workers = [each for each in below if each not in java]
        if collects and java:
            self._heap_mb = heap_after_collection_mb(java[0])
        size_mb, count = directory_mb(self.checkpoint)
        figures = {
            "driver, MB": memory_mb([self.pid]),
            "JVM, MB": memory_mb(java),
            "heap, MB": self._heap_mb,
            "workers, MB": memory_mb(workers),
            "open files": float(open_files([self.pid, *below])),
            "checkpoint, MB": size_mb,
            "checkpoint, files": float(count),
            "lag": self._lag(),
        }
        return {f"{self.name}: {what}": value for what, value in figures.items()}

    def _lag(self) -> float:
        try:
            with urllib.request.urlopen(self.metrics, timeout=30) as answer:
                told = answer.read().decode().splitlines()
        except URLError as error:
            last = self.notes.read_text()[-_LAST_CHARACTERS:]
            raise SystemExit(f"{self.name} has no metrics any more: {error}\n{last}") from error
        return sum(float(one.split()[-1]) for one in told if one.startswith("moldau_streams_lag{"))


def prepare(bootstrap: str) -> None:
    """The topics, and a table with a row for each key."""
    with Admin(bootstrap_servers=bootstrap) as admin:
        topics = [NewTopic(name, partitions=2) for name in (LINES, PEOPLE, *_OUTPUTS)]
        admin.create_topics(topics).check()
    with Producer[bytes, bytes](bootstrap_servers=bootstrap) as producer:
        for number in range(_KEYS):
            producer.send(PEOPLE, b"p%d" % number, key=b"k%d" % number)


def send_steadily(bootstrap: str, rate: int, sent: Sent, stop: threading.Event) -> None:
    """So many lines a second of two words each, until it is to stop."""
    began = time.monotonic()
    with Producer[bytes, bytes](bootstrap_servers=bootstrap) as producer:
        while not stop.wait(_PORTION_S):
            due = int((time.monotonic() - began) * rate)
            for number in range(sent.lines, due):
                words = b"w%d" % (number % _WORDS), b"w%d" % (number * 7 % _WORDS)
                producer.send(LINES, b" ".join(words), key=b"k%d" % (number % _KEYS))
                sent.words.update(words)
            sent.lines = max(sent.lines, due)


@contextmanager
def running(name: str, place: Path, bootstrap: str, interval_ms: int) -> Iterator[Application]:
    """An application in a process of its own; its notes are in a file of that name."""
    (place / f"{name}.py").write_text(_FRAME.format(flow=_APPS[name]))
    notes = place / f"{name}.log"
    command = [sys.executable, "-m", "moldau", "streams", "run", f"{name}.py"]
    command += ["--bootstrap-server", bootstrap, "--metrics-port", "0", "--master", "local[2]"]
    command += ["--interval-ms", str(interval_ms), "--option", "startingOffsets=earliest"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with notes.open("w") as file:
        process = subprocess.Popen(command, cwd=place, env=environment, stderr=file, stdout=file)
    try:
        page = _page(notes, process)
        yield Application(name, process.pid, place / ".moldau" / name, page, notes)
    finally:
        process.terminate()
        process.wait(_START_S)


def differences(bootstrap: str, sent: Sent, deadline: float) -> list[str]:
    """What has not come out as it should have by then."""
    while wrong := _differences(bootstrap, sent):
        if time.monotonic() > deadline:
            return wrong
        time.sleep(_LEAST_S)
    return []


def _differences(bootstrap: str, sent: Sent) -> list[str]:
    counts, _ = _last_values(bootstrap, "words")
    windows, _ = _last_values(bootstrap, "windows")
    _, joined = _last_values(bootstrap, "join")
    found = {
        "words": {word: _number(value) for word, value in counts.items()} == dict(sent.words),
        "windows": sum(map(_number, windows.values())) == sent.lines,
        "join": joined == sent.lines,
    }
    return [f"the results of {name} are wrong" for name, right in found.items() if not right]


def _last_values(bootstrap: str, topic: str) -> tuple[dict[bytes, bytes], int]:
    """The last committed value of each key, and how many records there are."""
    settings = {"bootstrap.servers": bootstrap, "isolation.level": "read_committed"}
    last: dict[bytes, bytes] = {}
    count = 0
    with Consumer[bytes, bytes](settings) as consumer:
        partitions: list[TopicPartition] = consumer.partitions_of(topic)
        ends = consumer.end_offsets(partitions)
        consumer.assign(dict.fromkeys(partitions, 0))
        while any(consumer.position(each) < ends[each] for each in partitions):
            table = consumer.poll_table(0.1, columns=["key", "value"])
            keys, values = (table.column(name).to_pylist() for name in ("key", "value"))
            last.update(zip(keys, values, strict=True))
            count += len(keys)
    return last, count


def _number(value: bytes) -> int:
    return int(struct.unpack(">q", value)[0])


def _page(notes: Path, process: "subprocess.Popen[bytes]") -> str:
    """The address of the metrics, once the application has told it."""
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        for line in notes.read_text().splitlines():
            if line.startswith("metrics: "):
                return line.removeprefix("metrics: ").strip()
        time.sleep(_PORTION_S)
    raise SystemExit(f"an application did not start: {notes.read_text()[-_LAST_CHARACTERS:]}")
