"""Print the records of topics (kafka-console-consumer.sh)."""

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from moldau.cli.record_text.formatters import DefaultFormatter, Formatter, Record, find_formatter
from moldau.cli.record_text.reading import ReadingOptions, reading
from moldau.cli.terminal.administration import topic_settings
from moldau.cli.terminal.client_settings import READS_ONLY, read_file, read_pairs, usable
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import BOOTSTRAP_SERVER, Given, Option, Options, warn
from moldau.cli.terminal.progress import Bar, as_records, progress_bar
from moldau.client.consumer.consumer import Consumer
from moldau.client.settings import ConsumerSettings

_RECORDS_MAX = 10_000
_WAIT_S = 3600.0
_FETCH_BYTES = 8 << 20
_INTERRUPTED = 130

OPTIONS = Options(
    "console-consumer",
    "Prints the records of topics, from now on or from the beginning.",
    BOOTSTRAP_SERVER,
    Option("topic", "The topic to read.", "TOPIC"),
    Option("include", "A pattern of the topics to read.", "PATTERN"),
    Option("whitelist", "The older name of --include.", "PATTERN"),
    Option("partition", "Read this partition only.", "NUMBER", kind=int),
    Option("offset", "Where to begin in the partition: a number, earliest or latest.", "OFFSET"),
    Option("from-beginning", "Begin with the oldest record if the group has no offset yet."),
    Option("group", "Read as a member of this group, and commit offsets.", "GROUP"),
    Option("max-messages", "End after so many records.", "COUNT", kind=int),
    Option("timeout-ms", "End if no record arrives for so long.", "MILLISECONDS", kind=int),
    Option("isolation-level", "read_uncommitted or read_committed.", "LEVEL"),
    Option("property", "What is printed: print.key=true, key.separator=: ...", "KEY=VALUE"),
    Option("formatter-property", "As --property.", "KEY=VALUE"),
    Option("formatter", "The Java class of the formatter.", "CLASS"),
    Option("formatter-config", "A file with properties of the formatter.", "FILE"),
    Option("key-deserializer", "The Java class that reads keys.", "CLASS"),
    Option("value-deserializer", "The Java class that reads values.", "CLASS"),
    Option("consumer-property", "A setting of the consumer.", "KEY=VALUE"),
    Option("consumer.config", "A file with settings of the consumer.", "FILE"),
    Option("skip-message-on-error", "Continue after a record that cannot be printed."),
    Option("enable-systest-events", "Ignored, for system tests."),
    Option("new-consumer", "Ignored, for old scripts."),
    Option("zookeeper", "Refused: for consumers before 2.0.", "SERVERS"),
)


@dataclass(slots=True)
class _Progress:
    """How much was printed, and whether it was to end before its time."""

    count: int = 0
    is_interrupted: bool = False
    has_no_reader: bool = False
    bar: Bar | None = None

    def advance(self, count: int) -> None:
        """Note that more was printed."""
        self.count += count
        if self.bar is not None:
            self.bar.advance(count)

    @property
    def is_stopped(self) -> bool:
        """Whether the user or the reader stopped it."""
        return self.is_interrupted or self.has_no_reader


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    _check(given)
    formatter = find_formatter(given.text("formatter"), formatter_properties(given))
    progress = _Progress()
    try:
        asyncio.run(_consume(given, formatter, progress))
    finally:
        warn(f"Processed a total of {progress.count} messages")
    return _INTERRUPTED if progress.is_interrupted else 0


def formatter_properties(given: Given) -> dict[str, str]:
    """The properties of the formatter."""
    properties = read_file(given.text("formatter-config"))
    properties |= read_pairs(given.texts("property") + given.texts("formatter-property"))
    for option in ("key-deserializer", "value-deserializer"):
        if option in given:
            properties[option.replace("-", ".")] = given.text(option)
    return properties


def settings(given: Given) -> dict[str, object]:
    """The consumer's settings: its own defaults, of the file, of the options."""
    texts = {
        "client.id": "console-consumer",
        **READS_ONLY,
        "max.partition.fetch.bytes": str(_FETCH_BYTES),
        "isolation.level": given.text("isolation-level", "read_uncommitted"),
    }
    texts |= read_file(given.text("consumer.config"))
    texts |= read_pairs(given.texts("consumer-property"))
    texts["bootstrap.servers"] = given.text("bootstrap-server")
    groups = {name for name in (given.text("group"), texts.get("group.id", "")) if name}
    if len(groups) > 1:
        raise CommandFailed(
            "The group ids provided in different places (directly using '--group', "
            "via '--consumer-property', or via '--consumer.config') do not match. "
            f"Detected group ids: {', '.join(sorted(groups))}"
        )
    texts["group.id"] = next(iter(groups), "")
    if "from-beginning" in given:
        if texts.get("auto.offset.reset") == "latest":
            raise CommandFailed(
                "Can't simultaneously specify --from-beginning and 'auto.offset.reset=latest', "
                "please remove one option"
            )
        texts["auto.offset.reset"] = "earliest"
    return usable(ConsumerSettings, texts)


def _check(given: Given) -> None:
    if "zookeeper" in given:
        raise CommandFailed(
            "consumers ask brokers, not ZooKeeper, since Kafka 2.0: "
            "use --bootstrap-server localhost:9092 instead of --zookeeper"
        )
    given.require("bootstrap-server")
    if sum(name in given for name in ("topic", "include", "whitelist")) != 1:
        raise CommandFailed("Exactly one of --include/--topic is required. ")
    if "partition" in given and "topic" not in given:
        raise CommandFailed("The topic is required when partition is specified.")
    if "offset" in given and "partition" not in given:
        raise CommandFailed("The partition is required when offset is specified.")
    if "from-beginning" in given and "offset" in given:
        raise CommandFailed("Options from-beginning and offset cannot be specified together.")
    if "group" in given and "partition" in given:
        raise CommandFailed("Options group and partition cannot be specified together.")
    offset = given.text("offset", "latest").lower()
    if offset not in ("earliest", "latest") and not offset.isdigit():
        shown = given.text("offset")
        raise CommandFailed(
            f"The provided offset value '{shown}' is incorrect. Valid values are 'earliest', "
            "'latest', or a non-negative long."
        )


async def _consume(given: Given, formatter: Formatter, progress: _Progress) -> None:
    values = settings(given)
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None, "asyncio.run runs this"

    def interrupt() -> None:
        progress.is_interrupted = True
        task.cancel()

    def close() -> None:
        progress.has_no_reader = True
        task.cancel()

    loop.add_signal_handler(signal.SIGINT, interrupt)
    if is_pipe(sys.stdout):
        # The end for writing is never readable: the event is that the reader has gone, as after
        # `| head -1`, even if there is nothing to write.
        loop.add_reader(sys.stdout.fileno(), close)
    try:
        async with (
            Consumer[bytes, bytes](values) as consumer,
            reading(consumer, _wanted(given, values), values) as topics,
        ):
            if isinstance(formatter, DefaultFormatter) and formatter.shows_timestamps:
                formatter.timestamp_types = await _timestamp_types(topics, values)
            total = given.number("max-messages") if "max-messages" in given else None
            with progress_bar(total, as_records, prints_result=True) as progress.bar:
                await _print(consumer, given, formatter, progress)
    except asyncio.CancelledError:
        if not progress.is_stopped:
            raise


def is_pipe(stream: TextIO) -> bool:
    """Whether another process reads what is written, and may stop doing so."""
    try:
        return stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode)
    except OSError:
        return False  # not a file at all


async def _print(
    consumer: Consumer[bytes, bytes], given: Given, formatter: Formatter, progress: _Progress
) -> None:
    count_max = given.number("max-messages", -1)
    timeout_s = given.number("timeout-ms", -1) / 1000
    out = sys.stdout.buffer
    while count_max < 0 or progress.count < count_max:
        wanted = _RECORDS_MAX if count_max < 0 else min(_RECORDS_MAX, count_max - progress.count)
        wait_s = timeout_s if timeout_s >= 0 else _WAIT_S
        records = await consumer.poll(wait_s, max_records=wanted)
        if not records and timeout_s >= 0:
            warn("ERROR Error processing message, terminating consumer process: timed out")
            return
        try:
            out.write(formatter.write(records))
        except CommandFailed as failed:
            if "skip-message-on-error" not in given:
                raise
            _write_singly(records, formatter, failed)
        out.flush()
        progress.advance(len(records))


def _write_singly(records: Sequence[Record], formatter: Formatter, failed: CommandFailed) -> None:
    """One after the other, without those that cannot be printed."""
    warn(f"ERROR Error processing message, skipping this message: {failed}")
    for record in records:
        try:
            sys.stdout.buffer.write(formatter.write((record,)))
        except CommandFailed:
            continue


def _wanted(given: Given, values: dict[str, object]) -> ReadingOptions:
    return ReadingOptions(
        topic=given.text("topic"),
        pattern=given.text("include") or given.text("whitelist"),
        partition=given.number("partition") if "partition" in given else None,
        offset="earliest" if "from-beginning" in given else given.text("offset", "latest"),
        is_in_group=bool(values["group.id"]),
    )


async def _timestamp_types(topics: list[str], values: dict[str, object]) -> dict[str, str]:
    """The topics whose times are of the broker."""
    found = await topic_settings(values, topics, "message.timestamp.type")
    return {topic: kind for topic, kind in found.items() if kind != "CreateTime"}
