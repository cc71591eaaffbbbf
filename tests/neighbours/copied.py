"""Frameworks in Python run the very lines that docs/neighbours.md says to copy."""

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from conformance.our_broker import our_broker
from moldau.client.blocking import Admin, Producer
from neighbours.packages import environment_of
from neighbours.reading import records_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "neighbours.md"
COUNT = 100
DEADLINE_S = 120
_BLOCK = re.compile(r"^```python3\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def lines_of(title: str, bootstrap: str) -> str:
    """The program of a section, with another address."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = _BLOCK.search(section)
    assert found is not None, title
    assert "localhost:9092" in found[1]
    return found[1].replace("localhost:9092", bootstrap)


def faststream(directory: Path) -> None:
    """Each order becomes an invoice."""
    programs = environment_of("faststream", "faststream[cli,confluent]==0.7.8")
    with our_broker(directory / "broker") as broker:
        (directory / "bill.py").write_text(lines_of("FastStream", broker.bootstrap))
        send(broker.bootstrap, "orders", [str(number) for number in range(COUNT)])
        with running([str(programs / "faststream"), "run", "bill:app"], directory) as log:
            wanted = {str(2 * number).encode() for number in range(COUNT)}
            wait_until(lambda: values(broker.bootstrap, "invoices") == wanted, log)


def quix(directory: Path) -> None:
    """A number of each record is doubled."""
    programs = environment_of("quix", "quixstreams==3.28.1")
    with our_broker(directory / "broker") as broker:
        (directory / "totals.py").write_text(lines_of("Quix Streams", broker.bootstrap))
        orders = [f'{{"n": {number}}}' for number in range(COUNT)]
        send(broker.bootstrap, "orders", orders)
        with running([str(programs / "python"), "totals.py"], directory) as log:
            wait_until(lambda: len(values(broker.bootstrap, "totals")) == COUNT, log)
        found = {
            json.loads(value or b"{}")["twice"] for value in values(broker.bootstrap, "totals")
        }
        assert found == set(range(0, 2 * COUNT, 2))


def bytewax(directory: Path) -> None:
    """Each line comes out in upper case; the flow ends with its topic."""
    programs = environment_of("bytewax", "bytewax==0.21.1", "confluent-kafka")
    with our_broker(directory / "broker") as broker:
        (directory / "flow.py").write_text(lines_of("Bytewax", broker.bootstrap))
        with Admin(bootstrap_servers=broker.bootstrap) as admin:
            admin.create_topics(["lines", "upper"]).check()
        send(broker.bootstrap, "lines", [f"line {number}" for number in range(COUNT)])
        command = [str(programs / "python"), "-m", "bytewax.run", "flow"]
        subprocess.run(command, cwd=directory, timeout=DEADLINE_S, check=True)
        wanted = {f"LINE {number}".encode() for number in range(COUNT)}
        assert values(broker.bootstrap, "upper") == wanted


def faust(directory: Path) -> None:
    """The table's changelog has the count of each word."""
    programs = environment_of("faust", "faust-streaming==0.15.3", "aiokafka==0.14.0")
    with our_broker(directory / "broker") as broker:
        (directory / "counts.py").write_text(lines_of("Faust", broker.bootstrap))
        command = [str(programs / "faust"), "-A", "counts", "worker", "--without-web"]
        with running(command, directory) as log:
            send(broker.bootstrap, "words", ["sea", "sky", "sea"] * COUNT)
            wait_until(lambda: counts(broker.bootstrap) == {"sea": 2 * COUNT, "sky": COUNT}, log)


def celery(directory: Path) -> None:
    """Tasks that another process asks for are done."""
    programs = environment_of("celery", "celery==5.7.0", "confluent-kafka")
    with our_broker(directory / "broker") as broker:
        (directory / "tasks.py").write_text(lines_of("Celery", broker.bootstrap))
        call = f"import tasks\nfor n in range({COUNT}): tasks.add.delay(n, 1)"
        asking = [str(programs / "python"), "-c", call]
        subprocess.run(asking, cwd=directory, timeout=DEADLINE_S, check=True)
        command = [str(programs / "celery"), "-A", "tasks", "worker", "--loglevel", "info"]
        with running([*command, "--concurrency", "1"], directory) as log:
            wanted = set(range(1, COUNT + 1))
            wait_until(lambda: results(log) == wanted, log)


def send(bootstrap: str, topic: str, texts: Sequence[str]) -> None:
    with Producer(bootstrap_servers=bootstrap) as producer:
        for text in texts:
            producer.send(topic, text)


def values(bootstrap: str, topic: str) -> set[bytes | None]:
    return {record.value for record in records_of(bootstrap, topic)}


def counts(bootstrap: str) -> dict[str, int]:
    """The last value of each key in the changelog of Faust's table."""
    changes = records_of(bootstrap, "counts-counts-changelog")
    return {(each.key or b"").decode().strip('"'): int(each.value or b"0") for each in changes}


def results(log: Path) -> set[int]:
    """What tasks returned, by the log of Celery's worker."""
    return {int(each) for each in re.findall(r"succeeded in \S+s: (\d+)", log.read_text())}


@contextmanager
def running(command: Sequence[str], directory: Path) -> Iterator[Path]:
    """A program that runs until it is stopped; yields its log."""
    log = directory / "program.log"
    environment = {**os.environ, "PYTHONPATH": str(directory)}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=directory, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield log
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(is_so: Callable[[], bool], log: Path) -> None:
    """Wait for a condition, or fail with the end of a log."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError("given up after two minutes\n" + log.read_text()[-3000:])
        time.sleep(0.5)
