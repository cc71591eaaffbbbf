"""Write numbers to a topic and print an event in JSON for each (kafka-verifiable-producer.sh)."""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from moldau.cli.performance.pace import RecordPace
from moldau.cli.terminal.client_settings import read_file, usable
from moldau.cli.terminal.events import print_event
from moldau.cli.terminal.options import BOOTSTRAP_SERVER, Given, Option, Options
from moldau.cli.terminal.stopping import Stopping
from moldau.client.producer.producer import Producer
from moldau.client.settings import ProducerSettings
from moldau.errors import KafkaError

if TYPE_CHECKING:
    from moldau.client.producer.intake import Receipt

OPTIONS = Options(
    "verifiable-producer",
    "Writes numbers to a topic, and prints as JSON what became of each.",
    BOOTSTRAP_SERVER,
    Option("broker-list", "The older name of --bootstrap-server.", "SERVERS"),
    Option("topic", "Where the numbers go.", "TOPIC"),
    Option("max-messages", "How many; -1 for no end.", "COUNT", kind=int),
    Option("throughput", "Records per second; -1: no limit.", "RATE", kind=float),
    Option("acks", "0, 1 or -1.", "ACKS"),
    Option("producer.config", "A file with settings.", "FILE"),
    Option("message-create-time", "The time of the first record.", "MILLISECONDS", kind=int),
    Option("value-prefix", "What stands before the number, with a dot.", "NUMBER"),
    Option("repeating-keys", "Keys count up to this and begin again.", "COUNT", kind=int),
    takes_abbreviations=True,
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.require("topic")
    if "bootstrap-server" not in given:
        given.require("broker-list")
    try:
        return asyncio.run(_produce(given))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None  # asked twice


def settings(given: Given) -> dict[str, object]:
    """The producer's settings, of the file and of the options."""
    texts = read_file(given.text("producer.config"))
    texts["bootstrap.servers"] = given.text("bootstrap-server") or given.text("broker-list")
    texts["acks"] = given.text("acks", "-1")
    if texts["acks"] in ("0", "1"):
        texts.setdefault("enable.idempotence", "false")
    return usable(ProducerSettings, texts)


async def _produce(given: Given) -> int:
    stopping, started_s = Stopping(), time.monotonic()
    tally = _Tally(stopping)
    async with Producer[str, str](settings(given)) as producer:
        print_event("startup_complete")
        await stopping.run(_send(producer, given, tally))
    print_event("shutdown_complete")
    elapsed_s = max(time.monotonic() - started_s, 0.001)
    print_event(
        "tool_data",
        sent=tally.sent,
        acked=tally.acked,
        target_throughput=given.last("throughput", float, -1.0),
        avg_throughput=round(tally.acked / elapsed_s, 3),
    )
    return stopping.code


async def _send(producer: Producer[str, str], given: Given, tally: "_Tally") -> None:
    topic, count = given.text("topic"), given.number("max-messages", -1)
    pace = RecordPace(given.last("throughput", float, -1.0))
    while (number := tally.sent) != count:
        await asyncio.sleep(pace.wait_s(number))
        value = f"{given.text('value-prefix')}.{number}" if "value-prefix" in given else number
        key = str(number % given.number("repeating-keys")) if "repeating-keys" in given else None
        time_ms = given.number("message-create-time") + number
        receipt = await producer.send(
            topic,
            str(value),
            key=key,
            timestamp_ms=time_ms if "message-create-time" in given else None,
        )
        receipt.add_done_callback(partial(tally.note, topic, key, str(value)))
        tally.sent += 1


class _Tally:
    """Counts what was sent and stored, and prints each record."""

    def __init__(self, stopping: Stopping) -> None:
        self._stopping = stopping
        self._is_read = True
        self.sent = 0
        self.acked = 0

    def note(self, topic: str, key: str | None, value: str, receipt: "Receipt") -> None:
        """A record is stored, or has failed."""
        if not self._is_read:
            return
        try:
            self._print(topic, key, value, receipt)
        except BrokenPipeError:
            # The reader has enough; what is printed at the end fails again.
            self._is_read = False
            self._stopping.stop()

    def _print(self, topic: str, key: str | None, value: str, receipt: "Receipt") -> None:
        try:
            found = receipt.result()
        except KafkaError as error:
            print_event(
                "producer_send_error",
                key=key,
                value=value,
                topic=topic,
                exception=error.code.name,
                message=str(error),
            )
            return
        self.acked += 1
        print_event(
            "producer_send_success",
            key=key,
            value=value,
            topic=topic,
            partition=found.partition,
            offset=found.offset,
        )
