"""Read, write and list topics with kcat's options: moldau cat -C -t x -o -10 -f '%T %k: %s\\n'."""

import asyncio
import getopt
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from moldau.cli.console.chunks import chunks
from moldau.cli.kcat.format import Record, as_json, compile_format
from moldau.cli.kcat.positions import Bounds, parse_bounds, seek_all
from moldau.cli.terminal.administration import administration
from moldau.cli.terminal.client_settings import read_file, read_pairs, usable
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import warn
from moldau.cli.terminal.progress import as_records, as_size, progress_bar, size_of
from moldau.client.admin.connected import Connected
from moldau.client.admin.description import Description
from moldau.client.admin.offsets import Offsets
from moldau.client.admin.topics import Topics
from moldau.client.consumer import Consumer
from moldau.client.producer import Producer
from moldau.client.settings import ClientSettings, ConsumerSettings, ProducerSettings
from moldau.errors import KafkaError
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.intake import Receipt

_FLAGS = "CPLQGeJquZUh"
_WITH_ARGUMENT = "b:t:p:o:c:f:K:D:l:k:H:z:X:F:d:m:O:s:r:"
_USAGE = """\
usage: moldau cat [-C|-P|-L|-Q] -b SERVERS [-t TOPIC] [options]
  -C  read        -P  write lines of standard input        -L  list topics and brokers
  -Q  print the offset of a time: -t TOPIC:PARTITION:MILLISECONDS
  -G GROUP TOPIC...  read as a member of a group
  -p PARTITION   -o beginning|end|NUMBER|-NUMBER|s@MS|e@MS   -c COUNT   -e  end at the end
  -f FORMAT  %s value %S its size %k key %K its size %T time %h headers %t %p %o \\n
  -J  JSON   -K SEPARATOR between key and value   -D SEPARATOR between records   -Z  empty is null
  -l FILE  instead of standard input   -k KEY   -H NAME=VALUE   -z CODEC
  -X NAME=VALUE  a setting   -F FILE  with settings"""


class CatAdmin(Topics, Offsets, Description, Connected):
    """What this command needs of an admin client."""


@dataclass(slots=True)
class Options:
    """What stood on the command line, by kcat's letters."""

    mode: str = ""
    values: dict[str, list[str]] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)

    def text(self, letter: str, default: str = "") -> str:
        """The last argument of an option."""
        return self.values.get(letter, [default])[-1]

    def number(self, letter: str, default: int = -1) -> int:
        """The last argument of an option that is a number."""
        if letter not in self.values:
            return default
        try:
            return int(self.text(letter))
        except ValueError:
            raise CommandFailed(f"-{letter} {self.text(letter)}: a number is expected") from None

    def has(self, letter: str) -> bool:
        """Whether an option was given."""
        return letter in self.values


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    options = parse(arguments)
    if options.has("h"):
        print(_USAGE)
        return 0
    mode = options.mode or ("C" if sys.stdin.isatty() else "P")
    if not options.has("b"):
        raise CommandFailed(f"-b SERVERS is missing\n{_USAGE}")
    if mode in "CP" and not options.has("t"):
        raise CommandFailed("-t TOPIC is missing")
    work = {"C": _consume, "G": _consume, "P": _produce, "L": _list, "Q": _query}[mode]
    asyncio.run(work(options))
    return 0


def parse(arguments: Sequence[str]) -> Options:
    """Options of one letter, with their arguments attached or behind them."""
    try:
        pairs, rest = getopt.gnu_getopt(list(arguments), _FLAGS + _WITH_ARGUMENT)
    except getopt.GetoptError as error:
        raise CommandFailed(f"{error.msg}\n{_USAGE}") from error
    options = Options(rest=rest)
    for flag, value in pairs:
        letter = flag[1:]
        if letter in "CPLQG":
            options.mode = letter
        else:
            options.values.setdefault(letter, []).append(value)
    if options.mode == "G":
        if len(rest) < 2:
            raise CommandFailed("-G GROUP TOPIC...: a group and its topics are expected")
        options.values["G"] = [rest[0]]
        options.rest = rest[1:]
    return options


def _settings(options: Options, kind: type[ClientSettings], **own: str) -> dict[str, object]:
    texts = read_file(options.text("F")) | read_pairs(options.values.get("X", []))
    return usable(kind, own | texts | {"bootstrap.servers": options.text("b")})


def writer(options: Options) -> Callable[[Record], bytes]:
    """How records are printed."""
    if options.has("J"):
        return as_json
    null = b"NULL" if options.has("Z") else b""
    if options.has("f"):
        return compile_format(options.text("f"), null=null)
    key = f"%k{options.text('K')}" if options.has("K") else ""
    return compile_format(f"{key}%s{options.text('D', chr(92) + 'n')}", null=null)


async def _consume(options: Options) -> None:
    write = writer(options)
    left = options.number("c")
    own = {
        "group.id": options.text("G"),
        "auto.offset.reset": "earliest",
    }
    async with Consumer[bytes, bytes](_settings(options, ConsumerSettings, **own)) as consumer:
        ends: dict[TopicPartition, int] = {}
        bounds = parse_bounds(options.values.get("o", []))
        if options.has("G"):
            consumer.subscribe(options.rest)
        else:
            await _require_topic(options)
            partitions = await consumer.partitions_of(options.text("t"))
            if options.has("p"):
                partitions = [TopicPartition(options.text("t"), options.number("p"))]
            consumer.assign(partitions)
            ends = await seek_all(consumer, partitions, bounds)
        stops = bool(ends) and (options.has("e") or bounds.end_ms is not None)
        with progress_bar(left if left > 0 else None, as_records, prints_result=True) as bar:
            while left and not (stops and await _is_at_end(consumer, ends)):
                records = await consumer.poll(0.2, max_records=500 if left < 0 else min(500, left))
                wanted = [each for each in records if not _is_behind(each, ends, bounds)]
                left -= len(wanted) if left > 0 else 0
                sys.stdout.buffer.write(b"".join(map(write, wanted)))
                sys.stdout.buffer.flush()
                if bar is not None:
                    bar.advance(len(wanted))
        if left and options.has("e") and not options.has("q"):
            _tell_ends(ends)


async def _require_topic(options: Options) -> None:
    """A consumer would wait for a topic, or make it."""
    topic = options.text("t")
    async with administration(CatAdmin, _settings(options, ClientSettings)) as admin:
        if topic in (await admin.describe_topics([topic])).errors:
            raise CommandFailed(f"% ERROR: Topic {topic} error: Broker: Unknown topic or partition")


def _tell_ends(ends: Mapping[TopicPartition, int]) -> None:
    for number, (each, offset) in enumerate(ends.items(), start=1):
        last = ": exiting" if number == len(ends) else ""
        warn(f"% Reached end of topic {each.topic} [{each.partition}] at offset {offset}{last}")


def _is_behind(record: Record, ends: dict[TopicPartition, int], bounds: Bounds) -> bool:
    return bounds.end_ms is not None and record.offset >= ends[record.topic_partition]


async def _is_at_end(consumer: Consumer[bytes, bytes], ends: dict[TopicPartition, int]) -> bool:
    positions = {each: await consumer.position(each) for each in ends}
    return all(positions[each] >= end for each, end in ends.items())


async def _produce(options: Options) -> None:
    separator = options.text("D", "\n").replace("\\n", "\n").encode()
    own = {"compression.type": options.text("z", "none"), "linger.ms": "5"}
    headers = [tuple(text.partition("=")[::2]) for text in options.values.get("H", [])]
    lost: list[str] = []

    def note(receipt: "Receipt") -> None:
        try:
            receipt.result()
        except KafkaError as error:
            lost.append(str(error))

    async with Producer[bytes, bytes](_settings(options, ProducerSettings, **own)) as producer:
        async for part in _parts(options, separator):
            key, value = _key_and_value(options, part)
            receipt = await producer.send(
                options.text("t"),
                None if options.has("Z") and not value else value,
                key=key,
                partition=options.number("p") if options.has("p") else None,
                headers=[(name, text.encode()) for name, text in headers],
            )
            receipt.add_done_callback(note)
    if lost:
        raise CommandFailed(f"% Delivery failed for {len(lost)} messages: {lost[0]}")


async def _parts(options: Options, separator: bytes) -> AsyncIterator[bytes]:
    """What stands between separators, as soon as it is there."""
    path = options.text("l") or next(iter(options.rest), "")
    rest = b""
    with ExitStack() as stack:
        descriptor = sys.stdin.fileno()
        if path:
            try:
                descriptor = stack.enter_context(open(path, "rb")).fileno()  # noqa: ASYNC230
            except OSError as error:
                raise CommandFailed(f"{path}: {error.strerror}") from error
        bar = None
        if not os.isatty(descriptor):
            bar = stack.enter_context(progress_bar(size_of(descriptor), as_size))
        async for data in chunks(descriptor):
            *whole, rest = (rest + data).split(separator)
            for part in whole:
                yield part
            if bar is not None:
                bar.advance(len(data))
    if rest:
        yield rest


def _key_and_value(options: Options, part: bytes) -> tuple[bytes | None, bytes]:
    if options.has("K"):
        key, middle, value = part.partition(options.text("K").encode())
        if middle:
            return (None if options.has("Z") and not key else key), value
    return (options.text("k").encode() if options.has("k") else None), part


async def _list(options: Options) -> None:
    async with administration(CatAdmin, _settings(options, ClientSettings)) as admin:
        cluster = await admin.describe_cluster()
        names = options.values.get("t") or list(await admin.list_topics(include_internal=True))
        described = (await admin.describe_topics(names)).succeeded
    first = cluster.brokers[0]
    what = options.text("t", "all topics")
    where = f"{first.host}:{first.port}/{first.node_id}"
    print(f"Metadata for {what} (from broker {first.node_id}: {where}):")
    print(f" {len(cluster.brokers)} brokers:")
    for broker in cluster.brokers:
        mark = " (controller)" if broker.node_id == cluster.controller_id else ""
        print(f"  broker {broker.node_id} at {broker.host}:{broker.port}{mark}")
    print(f" {len(described)} topics:")
    for topic in described.values():
        print(f'  topic "{topic.name}" with {len(topic.partitions)} partitions:')
        for each in topic.partitions:
            replicas, isr = (",".join(map(str, ids)) for ids in (each.replicas, each.isr))
            print(
                f"    partition {each.partition}, leader {each.leader}, "
                f"replicas: {replicas}, isrs: {isr}"
            )


async def _query(options: Options) -> None:
    times: dict[TopicPartition, int] = {}
    for text in options.values.get("t", []):
        try:
            topic, partition, at = text.rsplit(":", 2)
            times[TopicPartition(topic, int(partition))] = int(at)
        except ValueError:
            raise CommandFailed(f"-t {text}: TOPIC:PARTITION:MILLISECONDS is expected") from None
    async with administration(CatAdmin, _settings(options, ClientSettings)) as admin:
        found = await admin.list_offsets(times)
    for each, offset in found.items():
        print(f"{each.topic} [{each.partition}] offset {offset.offset}")
