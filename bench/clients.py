"""Moldau's clients against confluent-kafka and aiokafka, on the same broker and in turns.

bin/bench clients [rounds] [records]

Each turn is a process of its own. Records have 100 bytes; linger, sizes of batches and fetches,
acks and codec are the same for all. Medians over the rounds; a ratio above 1 is in our favour.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.brokers import moldau
from bench.client_runs import VALUE
from bench.measure import end, print_table

from moldau.client.blocking import Producer

ROUNDS = 5
RECORDS = 1_000_000
IMPORT_MS_MAX = 100
_TIMEOUT_S = 300
SETTINGS = {"auto.create.topics.enable": "true", "log.segment.delete.delay.ms": "1000"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Our task against theirs, the figure that counts, and how many times theirs it should be."""

    ours: str
    rival: str
    theirs: str
    figure: str
    aim: float
    part: float = 1.0
    """Of the number of records: slow ones get fewer."""

    @property
    def is_better_lower(self) -> bool:
        return self.figure.endswith("us")


COMPARISONS = (
    Comparison("send", "confluent", "send", "msg/CPU s", 1.0),
    Comparison("send, result", "confluent", "send, result", "msg/CPU s", 1.0, 0.5),
    Comparison("consume", "confluent", "consume", "msg/CPU s", 1.0),
    Comparison("send, table", "confluent", "send", "msg/CPU s", 5.0),
    Comparison("consume, table", "confluent", "consume", "msg/CPU s", 8.0),
    Comparison("async send", "aiokafka", "async send", "msg/CPU s", 5.0, 0.2),
    Comparison("async consume", "aiokafka", "async consume", "msg/CPU s", 5.0, 0.5),
    Comparison("latency", "confluent", "latency", "p99 us", 1.0, 0.005),
    Comparison("async latency", "confluent", "latency", "p99 us", 1.0, 0.005),
    Comparison("async latency", "aiokafka", "async latency", "p99 us", 1.0, 0.005),
)


def run(client: str, task: str, bootstrap: str, topic: str, count: int) -> dict[str, float]:
    """One turn."""
    command = [sys.executable, "-m", "bench.client_runs", client, task, bootstrap, topic]
    done = subprocess.run(
        [*command, str(count)], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{client}, {task}: {done.stderr[-2000:]}")
    result: dict[str, float] = json.loads(done.stdout)
    return result


def import_ms(code: str) -> float:
    """The processor time that importing takes, at its best of five."""
    timed = f"import time; t = time.process_time(); {code}; print(time.process_time() - t)"
    runs = [subprocess.check_output([sys.executable, "-c", timed], text=True) for _ in range(5)]
    return min(map(float, runs)) * 1000


def compare(rounds: int, records: int) -> None:
    """Run everything and print the table."""
    with tempfile.TemporaryDirectory() as directory, moldau(Path(directory), SETTINGS) as broker:
        bootstrap = broker.bootstrap
        with Producer[bytes, bytes](bootstrap_servers=bootstrap, batch_size=1_000_000) as producer:
            for _ in range(records):
                producer.send("read", VALUE)
        found: dict[Comparison, tuple[list[dict[str, float]], list[dict[str, float]]]] = {}
        for turn in range(rounds):
            for each in COMPARISONS:
                count = max(int(records * each.part), 100)
                ours, theirs = found.setdefault(each, ([], []))
                turns = [(ours, "Moldau", each.ours), (theirs, each.rival, each.theirs)]
                for results, client, task in turns if turn % 2 else reversed(turns):
                    topic = "read" if "consume" in task else f"{turn}-{client}-{len(found)}"
                    results.append(run(client, task, bootstrap, topic, count))
                    if topic != "read":
                        broker.delete_topic(topic)
            print(f"round {turn + 1} of {rounds} done", file=sys.stderr, flush=True)
    report(rounds, found)


def report(
    rounds: int, found: dict[Comparison, tuple[list[dict[str, float]], list[dict[str, float]]]]
) -> None:
    """Print medians, and end badly if an aim was missed."""
    rows, misses = [], []
    for each, (ours, theirs) in found.items():
        for figure in ours[0]:
            our, their = (
                statistics.median(result[figure] for result in results)
                for results in (ours, theirs)
            )
            ratio = their / our if each.is_better_lower else our / their
            aim = f"{each.aim:g}" if figure == each.figure else ""
            name = f"{each.ours} / {each.rival} {each.theirs}, {figure}"
            rows.append((name, f"{our:,.0f}", f"{their:,.0f}", f"{ratio:.2f}", aim))
            if figure == each.figure and ratio < each.aim:
                misses.append(f"{name} {ratio:.2f}")
    took_ms = import_ms("import moldau")
    rows.append(("import moldau, CPU ms", f"{took_ms:.0f}", "", "", f"{IMPORT_MS_MAX}"))
    clients_ms = import_ms("import moldau; moldau.Producer; moldau.Consumer")
    rows.append(("... and both clients, CPU ms", f"{clients_ms:.0f}", "", "", ""))
    if took_ms > IMPORT_MS_MAX:
        misses.append(f"import {took_ms:.0f} ms")
    columns = ("ours / theirs", "Moldau", "theirs", "ratio", "aim")
    print_table(f"Medians of {rounds} rounds", columns, rows)
    end(misses)


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:]]
    compare(*(numbers + [ROUNDS, RECORDS][len(numbers) :]))
