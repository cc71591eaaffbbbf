"""`moldau streams run` with nothing set: a word count on two cores.

bin/bench streams_run [lines]

Time to the first result from the start of the command, then one line after the other: the time of
their micro-batches as the metrics tell it, and the processor time of the command and all that it
started while nothing comes.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from bench.brokers import moldau
from bench.measure import end, print_table

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking import Producer
from moldau.client.blocking.admin import Admin
from moldau.streams import LONG, STRING
from moldau.streams.queries import TableView

LINES = 30
IDLE_S = 20.0
FIRST_AIM_S, TRIGGER_AIM_MS, IDLE_AIM = 15.0, 500.0, 0.05
DEADLINE_S = 300.0
_POLL_S = 0.05
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
APP = r"""
from moldau.streams import StreamsBuilder

builder = StreamsBuilder()
words = builder.stream("lines").flat_map_values(r"split(lower(value), '\\W+')")
words.group_by("value").count(store="counts").to_stream().to("output")
topology = builder.build()
"""


def measure(lines: int) -> None:
    """Run everything and print the table."""
    with (
        tempfile.TemporaryDirectory() as directory,
        moldau(Path(directory, "moldau"), {}) as broker,
    ):
        with Admin(bootstrap_servers=broker.bootstrap) as admin:
            admin.create_topics([NewTopic("lines", partitions=2), NewTopic("output")]).check()
        Path(directory, "words.py").write_text(APP)
        send(broker.bootstrap, 1)
        began = time.perf_counter()
        process, page = start(directory, broker.bootstrap)
        try:
            topic = "words-counts-changelog"
            with TableView(broker.bootstrap, topic, key=STRING, value=LONG) as view:
                wait_for(view, 1)
                first_s = time.perf_counter() - began
                triggers_ms = []
                for number in range(2, lines + 2):
                    send(broker.bootstrap, 1)
                    wait_for(view, number)
                    triggers_ms.append(batch_ms(page))
            idle_began, cpu_began = time.perf_counter(), cpu_s(process.pid)
            time.sleep(IDLE_S)
            idle = (cpu_s(process.pid) - cpu_began) / (time.perf_counter() - idle_began)
        finally:
            process.terminate()
            process.wait(DEADLINE_S)
    report(first_s, triggers_ms, idle)


def start(directory: str, bootstrap: str) -> "tuple[subprocess.Popen[str], str]":
    """The command, and the address of its metrics."""
    command = [sys.executable, "-m", "moldau", "streams", "run", "words.py", "--master", "local[2]"]
    command += ["--bootstrap-server", bootstrap, "--metrics-port", "0"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        command, cwd=directory, env=environment, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("metrics: "):
            return process, line.removeprefix("metrics: ").strip()
    raise SystemExit("the command ended before it ran")


def send(bootstrap: str, count: int) -> None:
    """Write so many lines of one word."""
    with Producer[bytes, bytes](bootstrap_servers=bootstrap) as producer:
        for _ in range(count):
            producer.send("lines", b"river")


def wait_for(view: TableView, count: int) -> None:
    """Until the word was counted so often."""
    deadline = time.monotonic() + DEADLINE_S
    while view.get("river") != count:
        if time.monotonic() > deadline:
            raise SystemExit(f"the word was not counted {count} times in {DEADLINE_S:g} s")
        time.sleep(_POLL_S)


def batch_ms(page: str) -> float:
    """How long the last micro-batch took."""
    with urllib.request.urlopen(page, timeout=30) as answer:
        text = answer.read().decode()
    (line,) = (each for each in text.splitlines() if each.startswith("moldau_streams_batch_ms{"))
    return float(line.rpartition(" ")[2])


def cpu_s(pid: int) -> float:
    """The processor time of a process and of all that come from it."""
    found = 0
    waiting = [pid]
    while waiting:
        each = waiting.pop()
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            tasks = Path(f"/proc/{each}/task").glob("*/children")
            children = " ".join(task.read_text() for task in tasks)
        except FileNotFoundError:
            continue
        found += sum(map(int, fields[11:15]))
        waiting += map(int, children.split())
    return found / _TICKS_PER_S


def report(first_s: float, triggers_ms: list[float], idle: float) -> None:
    """The figures beside what is aimed at."""
    middle = statistics.median(triggers_ms)
    print_table(
        "`moldau streams run`, a word count on `local[2]`",
        ["", "found", "aim"],
        [
            ["first result", f"{first_s:.1f} s", f"{FIRST_AIM_S:g} s"],
            ["trigger, median", f"{middle:.0f} ms", f"{TRIGGER_AIM_MS:g} ms"],
            ["idle, of a core", f"{idle:.1%}", f"{IDLE_AIM:.0%}"],
        ],
    )
    pairs = {
        "first result": (first_s, FIRST_AIM_S),
        "trigger": (middle, TRIGGER_AIM_MS),
        "idle": (idle, IDLE_AIM),
    }
    end([f"{name} misses its aim" for name, (found, aim) in pairs.items() if found > aim])


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else LINES)
