"""Command lines against Apache's: how soon they answer, how fast lines pass through.

    bin/bench cli            20 rounds of quick commands, 256 MiB of lines
    bin/bench cli --short    a glance at both, for a busy machine

Both sides talk to the same broker, ours. Wall-clock seconds of whole processes, start included;
processor seconds beside them.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.measure import end, print_table

from conformance.apache.cache import CLONE
from conformance.apache.jars import class_path
from conformance.apache.jvm import java_command
from conformance.apache.tools import CLASSES
from conformance.our_broker import SOURCES, our_broker

ANSWER_S_MAX = 0.25
CONSOLE_RATIO_MIN = 3.0
PAIRS = 3
LINE = b"x" * 1023 + b"\n"
AS_SHIPPED = ("-Xmx512M",)  # what Apache's scripts give their tools
QUICK = (
    ("kafka-topics.sh", "--list"),
    ("kafka-topics.sh", "--describe", "--topic", "lines"),
    ("kafka-get-offsets.sh", "--topic", "lines"),
)


class Spent(NamedTuple):
    """What one process took."""

    wall_s: float
    cpu_s: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true")
    short = parser.parse_args().short
    rounds, line_count = (3, 20_000) if short else (20, 262_144)
    misses: list[str] = []
    with tempfile.TemporaryDirectory() as name, our_broker(Path(name)) as broker:
        directory = Path(name)
        compare_consoles(broker.bootstrap, directory, line_count, misses)
        compare_answers(broker.bootstrap, rounds, misses)
    end([] if short else misses)


def compare_answers(bootstrap: str, rounds: int, misses: list[str]) -> None:
    rows = []
    for script, *options in QUICK:
        where = ("--bootstrap-server", bootstrap, *options)
        ours = [spend(our_command(script, where)) for _ in range(rounds)]
        theirs = [spend(their_command(script, where)) for _ in range(max(rounds // 5, 1))]
        ours_s, theirs_s = (statistics.median(e.wall_s for e in each) for each in (ours, theirs))
        ours_cpu, theirs_cpu = (statistics.median(e.cpu_s for e in each) for each in (ours, theirs))
        name = " ".join((script, *options))
        cells = [f"{theirs_s:.2f}", f"{theirs_cpu:.2f}", f"{ours_s:.3f}", f"{ours_cpu:.3f}"]
        rows.append([name, *cells, f"{theirs_s / ours_s:.0f}"])
        if ours_s >= ANSWER_S_MAX:
            misses.append(f"{name} took {ours_s:.3f} s")
    columns = ["command, median seconds", "Apache", "(cpu)", "Moldau", "(cpu)", "times"]
    print_table("Answers, with the start of the process", columns, rows)


def compare_consoles(bootstrap: str, directory: Path, line_count: int, misses: list[str]) -> None:
    lines, printed = directory / "lines", directory / "printed"
    lines.write_bytes(LINE * line_count)
    where = ("--bootstrap-server", bootstrap, "--topic")
    all_of_it = ("--from-beginning", "--max-messages", str(line_count))
    commands = {"Apache": their_command, "Moldau": our_command}
    spent: dict[tuple[str, str], list[Spent]] = {}

    def run(what: str, name: str, topic: str) -> None:
        reads = what != "producer"
        script = f"kafka-console-{'consumer' if reads else 'producer'}.sh"
        command = commands[name](script, (*where, topic, *(all_of_it if reads else ())))
        with lines.open("rb") as source, printed.open("wb") as sink:
            took = spend(command, stdin=source.fileno(), stdout=sink.fileno())
        spent.setdefault((what, name), []).append(took)
        if reads and printed.read_bytes() != lines.read_bytes():
            misses.append(f"{name}'s consumer printed something else of {topic}")

    # One after the other, so that what else the machine does meets both. Both read what ours have
    # written; what Apache's have written is read too, to see that it is all there.
    for number in range(PAIRS):
        topic = f"lines-{number}" if number else "lines"
        for what, written in (("producer", f"theirs-{number}"), ("consumer", topic)):
            run(what, "Moldau", topic)
            run(what, "Apache", written)
        run("check", "Moldau", f"theirs-{number}")
        used = ("--delete", "--topic", f"theirs-{number}|lines-{number}")
        spend(our_command("kafka-topics.sh", ("--bootstrap-server", bootstrap, *used)))
    rows = []
    for what in ("producer", "consumer"):
        medians = [
            statistics.median(each[part] for each in spent[what, name])
            for name in commands
            for part in (0, 1)
        ]
        ratio = medians[0] / medians[2]
        rows.append([f"console {what}", *(f"{each:.2f}" for each in medians), f"{ratio:.1f}"])
        if ratio < CONSOLE_RATIO_MIN:
            misses.append(f"the console {what} is {ratio:.1f} times as fast")
    title = f"{line_count} lines of 1 KiB, median seconds of {PAIRS} (processor seconds)"
    print_table(title, ["", "Apache", "(cpu)", "Moldau", "(cpu)", "times"], rows)


def spend(
    command: Sequence[str], *, stdin: int = subprocess.DEVNULL, stdout: int = subprocess.DEVNULL
) -> Spent:
    before, start_s = _children_cpu_s(), time.perf_counter()
    subprocess.run(
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        check=True,
    )
    return Spent(time.perf_counter() - start_s, _children_cpu_s() - before)


def our_command(script: str, arguments: Sequence[str]) -> list[str]:
    """As people type it in a clone whose environment is made, else without the script."""
    if (CLONE / ".venv" / "stamps" / "base").exists():
        return [str(CLONE / "bin" / script), *arguments]
    return [sys.executable, "-m", "moldau", script, *arguments]


def their_command(script: str, arguments: Sequence[str]) -> list[str]:
    path = class_path("kafka-3.9")
    return java_command(path, CLASSES[script], *arguments, options=AS_SHIPPED)


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
