"""Print the first, last or timed offsets of partitions (kafka-get-offsets.sh)."""

import json
import re
from collections.abc import Callable, Sequence

from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Given,
    Option,
    Options,
    warn,
)
from moldau.cli.terminal.patterns import read_pattern
from moldau.client.admin.connected import Connected
from moldau.client.admin.offsets import OffsetsArea
from moldau.client.admin.topics import TopicsArea
from moldau.errors import KafkaError
from moldau.model import TopicPartition

OPTIONS = Options(
    "get-offsets",
    "Prints an offset of each partition, as topic:partition:offset.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Option("broker-list", "The older name of --bootstrap-server.", "SERVERS"),
    Option("topic", "A pattern of topics; default: all.", "PATTERN"),
    Option("partitions", "The partitions of these topics: 0,1,2.", "NUMBERS"),
    Option("topic-partitions", "Patterns with partitions: t.*:0,u:2-5.", "LIST"),
    Option("time", "latest, earliest, max-timestamp, or milliseconds since 1970.", "TIME"),
    Option("exclude-internal-topics", "Leave out the brokers' own topics."),
)

_TIMES = {
    "latest": -1,
    "earliest": -2,
    "max-timestamp": -3,
    "earliest-local": -4,
    "latest-tiered": -5,
}
_TOPIC_PARTITION = re.compile(r"([^:,]*)(?::(?:([0-9]+)(?:-([0-9]*))?|-([0-9]+)))?")

Filter = Callable[[TopicPartition], bool]


class OffsetAdmin(TopicsArea, OffsetsArea, Connected):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    if "topic-partitions" in given and ("topic" in given or "partitions" in given):
        raise CommandFailed("--topic-partitions cannot be used with --topic or --partitions")
    time = parse_time(given.text("time", "latest"))
    is_wanted = partition_filter(given)
    found, failed = run_admin(
        given, OffsetAdmin, lambda admin: _offsets(admin, given, is_wanted, time)
    )
    for partition, error in sorted(failed.items()):
        warn(f"Skip getting offsets for topic-partition {partition} due to error: {error}")
    if given.is_json:
        rows = [{"topic": t, "partition": p, "offset": o} for (t, p), o in found.items()]
        print(json.dumps(rows))
    else:
        for each, offset in found.items():
            print(f"{each.topic}:{each.partition}:{offset}")
    return 0


def parse_time(text: str) -> int:
    """What ListOffsets is asked for."""
    if text.lower() in _TIMES:
        return _TIMES[text.lower()]
    try:
        return int(text)
    except ValueError:
        raise CommandFailed(
            f"Error occurred: Malformed time argument {text}. Please use -1 or latest / "
            "-2 or earliest / -3 or max-timestamp / -4 or earliest-local / -5 or latest-tiered, "
            "or a specified long format timestamp"
        ) from None


def partition_filter(given: Given) -> Filter:
    """Which partitions the options want."""
    if "topic-partitions" in given:
        rules = [_rule(part) for part in given.text("topic-partitions").split(",")]
        return lambda partition: any(rule(partition) for rule in rules)
    topic = read_pattern(given.text("topic") or ".*")
    try:
        numbers = {int(each) for each in given.text("partitions").split(",") if each}
    except ValueError:
        raise CommandFailed(
            "Error occurred: --partitions expects a comma separated list of numeric "
            f"partition ids, but received: {given.text('partitions')}"
        ) from None
    return lambda partition: bool(
        topic.fullmatch(partition.topic) and (not numbers or partition.partition in numbers)
    )


def _rule(text: str) -> Filter:
    found = _TOPIC_PARTITION.fullmatch(text)
    if found is None:
        raise CommandFailed(f"Error occurred: Invalid rule specification: {text}")
    topic = read_pattern(found[1] or ".*")
    low, high = int(found[2] or 0), None
    if found[4] is not None:
        high = int(found[4])
    elif found[3]:
        high = int(found[3])
    elif found[2] is not None and found[3] is None:
        high = low + 1
    return lambda partition: bool(
        topic.fullmatch(partition.topic)
        and partition.partition >= low
        and (high is None or partition.partition < high)
    )


async def _offsets(
    admin: OffsetAdmin, given: Given, is_wanted: Filter, time: int
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, KafkaError]]:
    listed = await admin.list_topics(include_internal="exclude-internal-topics" not in given)
    described = (await admin.describe_topics(listed)).succeeded
    wanted = [
        partition
        for topic in described.values()
        for each in topic.partitions
        if is_wanted(partition := TopicPartition(topic.name, each.partition))
    ]
    if not wanted:
        raise CommandFailed(
            "Error occurred: Could not match any topic-partitions with the specified filters"
        )
    outcomes = await admin.list_offsets(dict.fromkeys(sorted(wanted), time))
    # A partition without a record so late has none; the latest ones always are there.
    found = {each: at.offset for each, at in outcomes.succeeded.items() if at.offset >= 0}
    return found, outcomes.errors
