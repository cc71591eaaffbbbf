"""Read, write and list topics with kcat's options: moldau cat -C -t x -o -10 -f '%T %k: %s\\n'."""

import asyncio
import getopt
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import moldau
from moldau.cli.kcat.format import Record, RecordPlace, as_json, compile_format, unescaped
from moldau.cli.kcat.listing import cluster_json, cluster_lines, offsets_json
from moldau.cli.kcat.packing import read_packing
from moldau.cli.kcat.positions import Bounds, parse_bounds, seek_all
from moldau.cli.record_text.chunks import chunks
from moldau.cli.terminal.administration import administration, topic_settings
from moldau.cli.terminal.client_settings import READS_ONLY, read_file, read_pairs, usable
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import warn
from moldau.cli.terminal.progress import as_records, as_size, progress_bar, size_of
from moldau.client.admin.connected import Connected
from moldau.client.admin.description import DescriptionArea
from moldau.client.admin.offsets import OffsetsArea
from moldau.client.admin.topics import TopicsArea
from moldau.client.consumer.consumer import Consumer
from moldau.client.producer.producer import Producer
from moldau.client.settings import ClientSettings, ConsumerSettings, ProducerSettings
from moldau.errors import KafkaError
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.producer.intake import Receipt

_FLAGS = "CPLQGeJquZUhlOvTEV"
_WITH_ARGUMENT = "b:t:p:o:c:f:K:D:k:H:z:X:F:d:m:s:r:"
_DEFAULT_SERVERS = "localhost:9092"
_USAGE = """\
usage: moldau cat [-C|-P|-L|-Q] [-b SERVERS] [-t TOPIC] [options] [FILE...]
  -C  read        -P  write lines of standard input, or each file as a whole
  -L  list topics and brokers              -b SERVERS  localhost:9092 without it
  -Q  print the offset of a time: -t TOPIC:PARTITION:MILLISECONDS
  -G GROUP TOPIC...  read as a member of a group
  -p PARTITION   -o beginning|end|NUMBER|-NUMBER|s@MS|e@MS   -c COUNT   -e  end at the end
  -f FORMAT  %s value %S its size %k key %K its size %T time %h headers %t %p %o \\n
  -J  JSON   -K SEPARATOR between key and value   -D SEPARATOR between records   -Z  empty is null
  -s [key=|value=]FORMAT  numbers: > < bBhHiIqQ, c a character, s the rest, $ the end
  -s [key=|value=]avro|json|protobuf -r URL  values of a schema registry, printed as JSON
  -l  lines of one file   -k KEY   -H NAME=VALUE   -z CODEC   -T  print what is sent
  -E  go on after a record that cannot be printed   -q quiet   -V version
  -X NAME=VALUE  a setting   -F FILE  with settings"""


class CatAdmin(TopicsArea, OffsetsArea, DescriptionArea, Connected):
    """What this command needs of an admin client."""


@dataclass(slots=True)
class CatOptions:
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
    if options.has("h") or options.has("help"):
        print(_USAGE)
        return 0
    if options.has("V"):
        print(f"moldau cat {moldau.__version__}, with the options of kcat 1.7.1")
        return 0
    mode = options.mode or ("C" if sys.stdin.isatty() else "P")
    if not options.mode and not options.has("q"):
        name = "Consumer" if mode == "C" else "Producer"
        warn(f"% Auto-selecting {name} mode (use -P or -C to override)")
    if mode in "CP" and not options.has("t"):
        raise CommandFailed("-t TOPIC is missing")
    work = {"C": _consume, "G": _consume, "P": _produce, "L": _list, "Q": _query}[mode]
    asyncio.run(work(options))
    return 0


def parse(arguments: Sequence[str]) -> CatOptions:
    """Options of one letter, with their arguments attached or behind them."""
    try:
        pairs, rest = getopt.gnu_getopt(list(arguments), _FLAGS + _WITH_ARGUMENT, ["help"])
    except getopt.GetoptError as error:
        raise CommandFailed(f"{error.msg}\n{_USAGE}") from error
    if any(flag == "--help" for flag, _ in pairs) and "--help" not in arguments:
        raise CommandFailed(f"options are not abbreviated\n{_USAGE}")
    options = CatOptions(rest=rest)
    for flag, value in pairs:
        letter = flag.lstrip("-")
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


def _settings(options: CatOptions, kind: type[ClientSettings], **own: str) -> dict[str, object]:
    texts = read_file(options.text("F") or os.environ.get("KCAT_CONFIG", ""))
    texts |= read_pairs(options.values.get("X", []))
    listed = texts.pop("metadata.broker.list", "") or texts.get("bootstrap.servers", "")
    servers = options.text("b") or listed or _DEFAULT_SERVERS
    return usable(kind, own | texts | {"bootstrap.servers": servers})


def writer(options: CatOptions, place: RecordPlace | None = None) -> Callable[[Record], bytes]:
    """How records are printed."""
    unpack = read_packing(options.values.get("s", []), options.text("r"))
    if options.has("J"):
        registered = unpack if options.has("r") else {}
        return lambda record: as_json(record, place, registered)
    null = b"NULL" if options.has("Z") else b""
    if options.has("f"):
        return compile_format(options.text("f"), null=null, unpack=unpack)
    key, end = (text.replace("%", "%%") for text in (options.text("K"), options.text("D", r"\n")))
    form = f"%k{key}%s{end}" if options.has("K") else f"%s{end}"
    return compile_format(form, null=null, unpack=unpack)


def _write_all(
    records: Iterable[Record], write: Callable[[Record], bytes], *, goes_on: bool
) -> None:
    for record in records:
        try:
            sys.stdout.buffer.write(write(record))
        except CommandFailed as failed:
            if not goes_on:
                raise CommandFailed(f"{failed}: terminating") from None
            warn(str(failed))
    sys.stdout.buffer.flush()


async def _place(options: CatOptions) -> RecordPlace:
    """Leaders and kinds of times, which only the JSON of records shows."""
    if not options.has("J"):
        return RecordPlace()
    values, topics = _settings(options, ClientSettings), options.rest or [options.text("t")]
    async with administration(CatAdmin, values) as admin:
        described = (await admin.describe_topics(topics)).succeeded
    kinds = await topic_settings(values, described, "message.timestamp.type")
    return RecordPlace(
        {
            TopicPartition(topic.name, each.partition): each.leader
            for topic in described.values()
            for each in topic.partitions
        },
        [topic for topic, kind in kinds.items() if kind == "LogAppendTime"],
    )


async def _consume(options: CatOptions) -> None:
    write = writer(options, await _place(options))
    left = options.number("c")
    own = {
        "group.id": options.text("G"),
        "auto.offset.reset": "earliest",
        **READS_ONLY,
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
                _write_all(wanted, write, goes_on=options.has("E"))
                if bar is not None:
                    bar.advance(len(wanted))
        if left and options.has("e") and not options.has("q"):
            _warn_of_ends(ends)


async def _require_topic(options: CatOptions) -> None:
    """A consumer would wait for a topic."""
    topic = options.text("t")
    async with administration(CatAdmin, _settings(options, ClientSettings)) as admin:
        if topic in (await admin.describe_topics([topic])).errors:
            raise CommandFailed(f"% ERROR: Topic {topic} error: Broker: Unknown topic or partition")


def _warn_of_ends(ends: Mapping[TopicPartition, int]) -> None:
    for number, (each, offset) in enumerate(ends.items(), start=1):
        last = ": exiting" if number == len(ends) else ""
        warn(f"% Reached end of topic {each.topic} [{each.partition}] at offset {offset}{last}")


def _is_behind(record: Record, ends: dict[TopicPartition, int], bounds: Bounds) -> bool:
    return bounds.end_ms is not None and record.offset >= ends[record.topic_partition]


async def _is_at_end(consumer: Consumer[bytes, bytes], ends: dict[TopicPartition, int]) -> bool:
    positions = {each: await consumer.position(each) for each in ends}
    return all(positions[each] >= end for each, end in ends.items())


async def _produce(options: CatOptions) -> None:
    own = {"compression.type": options.text("z", "none"), "linger.ms": "5"}
    headers = [tuple(text.partition("=")[::2]) for text in options.values.get("H", [])]
    lost: list[str] = []

    def note(receipt: "Receipt") -> None:
        try:
            receipt.result()
        except KafkaError as error:
            lost.append(str(error))

    async with Producer[bytes, bytes](_settings(options, ProducerSettings, **own)) as producer:
        async for key, value in _messages(options):
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


async def _messages(options: CatOptions) -> AsyncIterator[tuple[bytes | None, bytes]]:
    """Keys and values of what is to be sent."""
    left = options.number("c", -1)
    if options.rest and not options.has("l"):
        key = options.text("k").encode() if options.has("k") else None
        for path in options.rest:
            with _opened(path) as file:
                yield key, file.read()
        return
    separator, key_separator = unescaped(options.text("D", r"\n")), unescaped(options.text("K"))
    async for part in _parts(options, separator):
        if options.has("T"):
            sys.stdout.buffer.write(part)
        yield _key_and_value(options, part, key_separator)
        left -= 1
        if not left:
            return


async def _parts(options: CatOptions, separator: bytes) -> AsyncIterator[bytes]:
    """What stands between separators, as soon as it is there."""
    rest = b""
    with ExitStack() as stack:
        descriptor = sys.stdin.fileno()
        if options.rest:
            descriptor = stack.enter_context(_opened(options.rest[0])).fileno()
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


def _opened(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise CommandFailed(f"% Failed to open {path}: {error.strerror}") from error


def _key_and_value(
    options: CatOptions, part: bytes, key_separator: bytes
) -> tuple[bytes | None, bytes]:
    if key_separator:
        key, middle, value = part.partition(key_separator)
        if middle:
            return (None if options.has("Z") and not key else key), value
    return (options.text("k").encode() if options.has("k") else None), part


async def _list(options: CatOptions) -> None:
    async with administration(CatAdmin, _settings(options, ClientSettings)) as admin:
        cluster = await admin.describe_cluster()
        names = options.values.get("t") or list(await admin.list_topics(include_internal=True))
        described = (await admin.describe_topics(names)).succeeded
    asked = options.text("t")
    if options.has("J"):
        print(cluster_json(cluster, described.values(), asked))
    else:
        print("\n".join(cluster_lines(cluster, described.values(), asked)))


async def _query(options: CatOptions) -> None:
    times: dict[TopicPartition, int] = {}
    for text in options.values.get("t", []):
        try:
            topic, partition, at = text.rsplit(":", 2)
            times[TopicPartition(topic, int(partition))] = int(at)
        except ValueError:
            raise CommandFailed(f"-t {text}: TOPIC:PARTITION:MILLISECONDS is expected") from None
    async with administration(CatAdmin, _settings(options, ClientSettings)) as admin:
        found = await admin.list_offsets(times)
    if options.has("J"):
        print(offsets_json(dict(found.items())))
        return
    for each, offset in found.items():
        print(f"{each.topic} [{each.partition}] offset {offset.offset}")
