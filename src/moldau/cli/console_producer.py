"""Write lines of standard input to a topic (kafka-console-producer.sh)."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from moldau.cli.record_text.chunks import chunks
from moldau.cli.record_text.line_reader import LINE_READERS, Headers, LineReader, LineSplitter
from moldau.cli.terminal.client_settings import read_file, read_pairs, usable
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import BOOTSTRAP_SERVER, Given, Option, Options, warn
from moldau.cli.terminal.progress import Bar, as_size, progress_bar, size_of
from moldau.client.producer.producer import Producer
from moldau.client.settings import ProducerSettings
from moldau.errors import KafkaError

if TYPE_CHECKING:
    from moldau.client.producer.intake import Receipt

# Larger than Java's: a user that pipes a file has more than 16 KiB to send.
_BATCH_BYTES = 512 << 10
_LINGER_MS = 5

OPTIONS = Options(
    "console-producer",
    "Writes each line of standard input to a topic.",
    BOOTSTRAP_SERVER,
    Option("broker-list", "The older name of --bootstrap-server.", "SERVERS"),
    Option("topic", "The topic to write to.", "TOPIC"),
    Option("sync", "Wait for each line to be stored before the next is read."),
    Option(
        "compression-codec",
        "none, gzip, snappy, lz4 or zstd; gzip without an argument.",
        "CODEC",
        is_argument_optional=True,
    ),
    Option("batch-size", "The largest batch in bytes.", "BYTES", kind=int),
    Option("max-partition-memory-bytes", "As --batch-size.", "BYTES", kind=int),
    Option("message-send-max-retries", "How often a batch is retried.", "COUNT", kind=int),
    Option("retry-backoff-ms", "The pause before a retry.", "MILLISECONDS", kind=int),
    Option("timeout", "How long a batch waits for more lines.", "MILLISECONDS", kind=int),
    Option("request-required-acks", "0, 1 or all.", "ACKS"),
    Option("request-timeout-ms", "How long to wait for a response.", "MILLISECONDS", kind=int),
    Option("metadata-expiry-ms", "How long metadata is used.", "MILLISECONDS", kind=int),
    Option("max-block-ms", "How long to wait while the buffer is full.", "MILLISECONDS", kind=int),
    Option("max-memory-bytes", "The size of the buffer.", "BYTES", kind=int),
    Option("socket-buffer-size", "Ignored: the system decides.", "BYTES", kind=int),
    Option("line-reader", "The class that reads lines.", "CLASS"),
    Option("property", "How lines are read: parse.key=true, key.separator=: ...", "KEY=VALUE"),
    Option("reader-config", "A file with properties of the line reader.", "FILE"),
    Option("producer-property", "A setting of the producer.", "KEY=VALUE"),
    Option("producer.config", "A file with settings of the producer.", "FILE"),
)

# Options and the settings that they stand for.
_SETTINGS = {
    "batch-size": "batch.size",
    "max-partition-memory-bytes": "batch.size",
    "message-send-max-retries": "retries",
    "retry-backoff-ms": "retry.backoff.ms",
    "timeout": "linger.ms",
    "request-required-acks": "acks",
    "request-timeout-ms": "request.timeout.ms",
    "metadata-expiry-ms": "metadata.max.age.ms",
    "max-block-ms": "max.block.ms",
    "max-memory-bytes": "buffer.memory",
}


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.require("topic")
    named = given.text("line-reader", LINE_READERS[0])
    if named not in LINE_READERS:
        raise CommandFailed(f"there is no line reader {named}, only {LINE_READERS[-1]}")
    properties = read_file(given.text("reader-config")) | read_pairs(given.texts("property"))
    reader = LineReader(properties)
    return asyncio.run(_produce(given, settings(given), reader))


def settings(given: Given) -> dict[str, object]:
    """The producer's settings: its own defaults, of the file, of the options."""
    servers = given.text("bootstrap-server") or given.text("broker-list")
    if not servers:
        raise CommandFailed('Missing required argument "[bootstrap-server]"')
    texts = {
        "client.id": "console-producer",
        "batch.size": str(_BATCH_BYTES),
        "linger.ms": str(_LINGER_MS),
    }
    texts |= read_file(given.text("producer.config"))
    texts |= {
        name: given.texts(option)[-1] for option, name in _SETTINGS.items() if option in given
    }
    if "compression-codec" in given:
        texts["compression.type"] = given.text("compression-codec") or "gzip"
    texts |= read_pairs(given.texts("producer-property"))
    texts["bootstrap.servers"] = servers
    if texts.get("acks") in ("0", "1"):
        texts.setdefault("enable.idempotence", "false")
    waits = (texts["linger.ms"], texts.get("request.timeout.ms", "30000"))
    if all(each.isdigit() for each in waits):  # or else the producer says which is no number
        texts.setdefault("delivery.timeout.ms", str(max(120_000, sum(map(int, waits)))))
    return usable(ProducerSettings, texts)


async def _produce(given: Given, values: dict[str, object], reader: LineReader) -> int:
    sending = _Sending(given.text("topic"), reader)
    send = sending.wait_for_each if "sync" in given else sending.pass_on
    with ExitStack() as stack:
        bar = None
        if not sys.stdin.isatty():
            bar = stack.enter_context(progress_bar(size_of(sys.stdin.fileno()), as_size))
        async with Producer[bytes, bytes](values) as producer:
            async for lines in _input_lines(bar):
                await send(producer, lines)
    return 1 if sending.has_lost else 0


class _Sending:
    """Passes lines on to a producer, and notes whether any was lost."""

    def __init__(self, topic: str, reader: LineReader) -> None:
        self._topic = topic
        self._reader = reader
        self.has_lost = False

    async def pass_on(self, producer: Producer[bytes, bytes], lines: list[bytes]) -> None:
        """Give the lines to the producer, which sends them when it sees fit."""
        topic, append = self._topic, producer.append
        if not (self._reader.is_plain and producer.is_plain):
            for line in lines:
                key, value, headers = self._reader.parse(line)
                await self._begin_batch(producer, key, value, headers)
            return
        for line in lines:
            if append(topic, line, None, None, None, ()) is None:
                await self._begin_batch(producer, None, line, ())

    async def wait_for_each(self, producer: Producer[bytes, bytes], lines: list[bytes]) -> None:
        """Send a line after the one before it is stored."""
        for line in lines:
            key, value, headers = self._reader.parse(line)
            try:
                await (await producer.send(self._topic, value, key=key, headers=headers))
            except KafkaError as error:
                self._lose(error)

    async def _begin_batch(
        self,
        producer: Producer[bytes, bytes],
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
    ) -> None:
        """Send a record; if its batch is lost, so are those that join it."""
        receipt = await producer.send(self._topic, value, key=key, headers=headers)
        receipt.add_done_callback(self._note)

    def _note(self, receipt: "Receipt") -> None:
        try:
            receipt.result()
        except KafkaError as error:
            self._lose(error)

    def _lose(self, error: KafkaError) -> None:
        if not self.has_lost:
            warn(f"ERROR Error when sending message to topic {self._topic}: {error}")
        self.has_lost = True


async def _input_lines(bar: Bar | None) -> AsyncIterator[list[bytes]]:
    """Lines as they come; a prompt is shown at a terminal."""
    splitter = LineSplitter()
    prompt = ">" if sys.stdin.isatty() else ""
    async for data in chunks(sys.stdin.fileno(), prompt=prompt):
        yield splitter.feed(data)
        if bar is not None:
            bar.advance(len(data))
    yield splitter.end()
