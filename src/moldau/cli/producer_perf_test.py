"""Measure how fast records are written (kafka-producer-perf-test.sh)."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence

from moldau.cli.performance.latencies import LatencyReport
from moldau.cli.performance.metric_lines import producer_lines
from moldau.cli.performance.pace import RecordPace
from moldau.cli.terminal.client_settings import read_file, read_pairs, usable
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Given, Option, Options, warn
from moldau.cli.terminal.progress import as_records, progress_bar
from moldau.client.metrics import Metrics
from moldau.client.producer.producer import Producer
from moldau.client.settings import ProducerSettings
from moldau.errors import KafkaError

_MANY = ("--producer-props",)
_TURN = 256  # records between two looks at what else is to be done

OPTIONS = Options(
    "producer-perf-test",
    "Writes records as fast as possible, or at a rate, and prints the rate.",
    Option("topic", "The topic to write to.", "TOPIC"),
    Option("num-records", "How many records.", "COUNT", kind=int),
    Option("record-size", "The size of each record in bytes.", "BYTES", kind=int),
    Option("payload-file", "A file of records to choose from.", "FILE"),
    Option("payload-delimiter", "What separates records in the file.", "TEXT"),
    Option("payload-monotonic", "Records are numbers from 0 on."),
    Option("throughput", "Records per second; -1: no limit.", "RATE", kind=float),
    Option("producer-props", "Settings: a=1 b=2.", "KEY=VALUE"),
    Option("producer.config", "A file with settings.", "FILE"),
    Option("bootstrap-server", "The brokers to connect to, instead of a setting.", "SERVERS"),
    Option("print-metrics", "Print all metrics of the producer at the end."),
    Option("transactional-id", "Write in transactions.", "ID"),
    Option("transaction-duration-ms", "The length of a transaction.", "MILLISECONDS", kind=int),
    takes_abbreviations=True,
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(spread(arguments))
    given.require("topic", "num-records", "throughput")
    ways = ("record-size", "payload-file", "payload-monotonic")
    if sum(way in given for way in ways) != 1:
        raise CommandFailed(
            "producer-performance: error: one of the arguments "
            "--record-size --payload-file --payload-monotonic is required"
        )
    count = given.number("num-records")
    with progress_bar(count, as_records) as bar:
        latencies = LatencyReport(count, bar=bar)
        values = settings(given)
        metrics = asyncio.run(_measure(given, values, payloads(given), latencies))
    print(latencies.total())
    if "print-metrics" in given:
        print("\n".join(producer_lines(metrics, str(values["client.id"]))))
    return 0


def spread(arguments: Sequence[str]) -> list[str]:
    """An option with several arguments becomes several options with one."""
    found: list[str] = []
    is_open = False
    for argument in arguments:
        if argument.startswith("--"):
            is_open = argument in _MANY
            found += [] if is_open else [argument]
        else:
            found += [*_MANY, argument] if is_open else [argument]
    return found


def settings(given: Given) -> dict[str, object]:
    """The producer's settings, of the file and of the options."""
    texts = {"client.id": "perf-producer-client"}
    texts |= read_file(given.text("producer.config")) | read_pairs(given.texts("producer-props"))
    if "bootstrap-server" in given:
        texts["bootstrap.servers"] = given.text("bootstrap-server")
    if "bootstrap.servers" not in texts:
        raise CommandFailed("--bootstrap-server, or bootstrap.servers in a setting, is required")
    if is_transactional(given):
        texts.setdefault("transactional.id", given.text("transactional-id", "performance"))
    if texts.get("acks") in ("0", "1"):
        texts.setdefault("enable.idempotence", "false")
    return usable(ProducerSettings, texts)


def is_transactional(given: Given) -> bool:
    """Whether records are written in transactions."""
    return "transactional-id" in given or "transaction-duration-ms" in given


def payloads(given: Given) -> Callable[[int], bytes]:
    """What the record of a number is."""
    if "payload-monotonic" in given:
        return lambda number: str(number).encode()
    chosen = random.Random(0)  # noqa: S311 - the same records each time
    if "payload-file" in given:
        path = given.text("payload-file")
        delimiter = given.text("payload-delimiter", "\\n").replace("\\n", "\n")
        try:
            with open(path, "rb") as file:
                lines = [each for each in file.read().split(delimiter.encode()) if each]
        except OSError as error:
            raise CommandFailed(f"{path}: {error.strerror}") from error
        if not lines:
            raise CommandFailed("Payload file is empty, or does not contain any records")
        return lambda _number: chosen.choice(lines)
    size = given.number("record-size")
    if size <= 0:
        raise CommandFailed("--record-size should be greater than zero")
    letters = bytes(chosen.choices(range(65, 91), k=size))
    return lambda _number: letters


async def _measure(
    given: Given,
    values: dict[str, object],
    payload_of: Callable[[int], bytes],
    latencies: LatencyReport,
) -> Metrics:
    """Write all; returns what the producer counted."""
    count, topic = given.number("num-records"), given.text("topic")
    pace = RecordPace(given.last("throughput", float, -1.0))
    lost: list[str] = []
    async with Producer[bytes, bytes](values) as producer:
        ends = _Transactions(producer, given) if is_transactional(given) else None
        for number in range(count):
            if ends is not None:
                await ends.before_record()
            wait_s = pace.wait_s(number)
            if wait_s > 0 or number % _TURN == 0:
                await asyncio.sleep(wait_s)
            payload = payload_of(number)
            receipt = await producer.send(topic, payload)
            started_s, size = time.monotonic(), len(payload)

            def note(done: object, started_s: float = started_s, size: int = size) -> None:
                try:
                    done.result()  # type: ignore[attr-defined]
                except KafkaError as error:
                    lost.append(str(error))
                else:
                    latencies.record(int((time.monotonic() - started_s) * 1000), size)

            receipt.add_done_callback(note)
        if ends is not None:
            await producer.commit_transaction()
        await producer.flush()
        metrics = producer.metrics()
    if lost:
        warn(f"ERROR {len(lost)} records were lost: {lost[0]}")
    return metrics


class _Transactions:
    """Begins and ends transactions as time goes by."""

    def __init__(self, producer: Producer[bytes, bytes], given: Given) -> None:
        self._producer = producer
        self._duration_s = given.number("transaction-duration-ms", 3_000) / 1000
        self._ends_s: float | None = None

    async def before_record(self) -> None:
        """Commit what is open if its time is up, and open another."""
        now_s = time.monotonic()
        if self._ends_s is not None and now_s >= self._ends_s:
            await self._producer.commit_transaction()
            self._ends_s = None
        if self._ends_s is None:
            await self._producer.begin_transaction()
            self._ends_s = now_s + self._duration_s
