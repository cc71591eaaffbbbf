"""Where reads spend their processor time: by threads and frames of the JVM and of Python's workers.

bin/bench spark_profile [seconds] [rows]

Topics as those of `bin/bench spark`, read over and over with shared tasks, for so long each, after
a warm-up. Threads are told by what the system has counted for them. Frames of the JVM's tasks come
from its flight recorder (`jcmd`, `jfr`), those of workers from `py-spy`, which has to be on the
path: `pip install py-spy`. Both also see frames that wait for the other process in a system call:
those are left out, since the system's own figures have what the calls cost.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench.brokers import moldau
from bench.measure import print_table
from bench.soak_samples import descendants
from bench.spark import OURS, ROWS, SHARED, SIZES, fill, measured, options_of, session
from pyspark import SparkContext
from pyspark.sql import SparkSession

from conformance.processes import children_of

SECONDS = 15.0
_WARM_UP_TURNS = 8
_ROWS_OF_1_KIB = 6
_SHOWN = 12
_CALLS = re.compile(
    r"(write|read|recv|send|poll|epoll_wait|EPoll\.wait|SocketDispatcher\.\w+)( \(libc.*)?$"
)
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_KINDS = {
    "Executor task": "JVM: tasks",
    "C1 CompilerThre": "JVM: compiler",
    "C2 CompilerThre": "JVM: compiler",
    "GC Thread": "JVM: garbage collection",
    "G1 ": "JVM: garbage collection",
    "VM Thread": "JVM: garbage collection",
}


def profile(seconds: float, rows: int) -> None:
    """Read everything and print the tables."""
    counts = {"100 B": rows, "1 KiB": rows // _ROWS_OF_1_KIB}
    with (
        tempfile.TemporaryDirectory() as directory,
        moldau(Path(directory, "moldau"), {"log.segment.bytes": "268435456"}) as broker,
        session(Path(directory, "spark"), None) as spark,
    ):
        for size, count in counts.items():
            fill(broker.bootstrap, size, count)
        for kind in ("batch", "stream"):
            for size in SIZES:
                options = options_of(broker.bootstrap, size, counts[size])
                _Turn(spark, Path(directory), options, f"{kind}, {size}").run(seconds)


class _Turn:
    def __init__(
        self, spark: SparkSession, directory: Path, options: dict[str, str], title: str
    ) -> None:
        self._spark = spark
        self._directory = directory
        self._options = options
        self._title = title
        self._count = 0
        gateway = SparkContext._gateway
        assert gateway is not None
        self._jvm: int = gateway.proc.pid

    def run(self, seconds: float) -> None:
        for _ in range(_WARM_UP_TURNS):
            self._read()
        recording, stacks = self._directory / "reads.jfr", self._directory / "stacks.txt"
        self._jcmd("JFR.start", "name=reads", "settings=profile")
        spy = self._spy(seconds, stacks)
        began, threads_before, self._count = time.monotonic(), threads_s(self._jvm), 0
        while time.monotonic() - began < seconds:
            self._read()
        used = threads_s(self._jvm)
        used.subtract(threads_before)
        spy.wait()
        self._jcmd("JFR.dump", "name=reads", f"filename={recording}")
        self._jcmd("JFR.stop", "name=reads")
        read = self._count * int(self._options["rows"]) / 1e6
        rows = [[kind, f"{cpu_s / read:.3f}"] for kind, cpu_s in used.most_common() if cpu_s > 0]
        print_table(f"{self._title}: {read:.1f} million rows", ["", "CPU s / million rows"], rows)
        _show(f"{self._title}: the JVM's tasks", java_frames(recording))
        _show(f"{self._title}: Python's workers", python_frames(stacks))

    def _read(self) -> None:
        kind = self._title.partition(",")[0]
        checkpoint = tempfile.mkdtemp(dir=self._directory)
        measured(self._spark, OURS + SHARED, self._options, kind, checkpoint)
        self._count += 1

    def _spy(self, seconds: float, stacks: Path) -> "subprocess.Popen[bytes]":
        """On the process that all workers come from, with them."""
        (daemon,) = children_of(self._jvm, b"pyspark.worker")
        command = ["py-spy", "record", "--subprocesses", "--native"]
        command += ["--format", "raw", "--rate", "100", "--duration", f"{seconds:.0f}"]
        command += ["--output", str(stacks), "--pid", str(daemon)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _jcmd(self, *words: str) -> None:
        subprocess.run(["jcmd", str(self._jvm), *words], capture_output=True, check=True)


def threads_s(jvm: int) -> Counter[str]:
    """Processor time by kind of thread of the JVM, and that of all that it has started."""
    found: Counter[str] = Counter()
    for task in Path(f"/proc/{jvm}/task").iterdir():
        name, user_s, system_s = _named_s(task / "stat")
        kind = next((kind for start, kind in _KINDS.items() if name.startswith(start)), None)
        _add(found, kind or "JVM: other", user_s, system_s)
    for each in descendants(jvm):
        _add(found, "Python", *_named_s(Path(f"/proc/{each}/stat"))[1:])
    return found


def _add(found: Counter[str], kind: str, user_s: float, system_s: float) -> None:
    found[kind] += user_s  # type: ignore[assignment]
    found[f"{kind}, in the kernel"] += system_s  # type: ignore[assignment]


def java_frames(recording: Path) -> Counter[str]:
    """How often each method of a task was at the top."""
    command = ["jfr", "print", "--events", "jdk.ExecutionSample,jdk.NativeMethodSample"]
    told = subprocess.run([*command, str(recording)], capture_output=True, text=True, check=True)
    found: Counter[str] = Counter()
    for event in told.stdout.split("\n\n"):
        if 'sampledThread = "Executor task' not in event:
            continue
        top = re.search(r"stackTrace = \[\s*(\S+)\(", event)
        if top is not None:
            found[".".join(top[1].split(".")[-2:])] += 1
    return found


def python_frames(stacks: Path) -> Counter[str]:
    """How often each frame was the innermost: a line of `frame;frame;... count` for each stack."""
    found: Counter[str] = Counter()
    for line in stacks.read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        found[stack.rpartition(";")[2]] += int(count)
    return found


def _named_s(stat: Path) -> tuple[str, float, float]:
    try:
        before, _, after = stat.read_text().rpartition(")")
    except (FileNotFoundError, ProcessLookupError):
        return "", 0.0, 0.0  # it has just ended
    fields = after.split()
    user_s, system_s = (int(each) / _TICKS_PER_S for each in fields[11:13])
    return before.partition("(")[2], user_s, system_s


def _show(title: str, frames: Counter[str]) -> None:
    for name in [each for each in frames if _CALLS.match(each)]:
        del frames[name]
    total = max(frames.total(), 1)
    rows = [[name, f"{count / total:.0%}"] for name, count in frames.most_common(_SHOWN)]
    print_table(f"{title}, {total} samples", ["innermost frame", "of them"], rows)


if __name__ == "__main__":
    numbers = sys.argv[1:]
    profile(
        float(numbers[0]) if numbers else SECONDS, int(numbers[1]) if len(numbers) > 1 else ROWS
    )
