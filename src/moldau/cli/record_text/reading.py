"""What the console consumer reads: a partition, topics with a group, or topics without one."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from moldau.cli.terminal.administration import administration
from moldau.cli.terminal.options import warn
from moldau.cli.terminal.patterns import read_pattern
from moldau.client.admin.connected import Connected
from moldau.client.admin.topics import TopicsArea
from moldau.client.consumer.consumer import Consumer
from moldau.errors import KafkaError, UnknownTopicOrPartition
from moldau.model import TopicPartition

LOOK_S = 5.0
SOON_S = 0.2
"""When to look again for a topic that is not there yet."""


class TopicClient(TopicsArea, Connected):
    """An admin client that knows of topics alone."""


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What the options say."""

    topic: str = ""
    pattern: str = ""
    partition: int | None = None
    offset: str = "latest"
    is_in_group: bool = False


@asynccontextmanager
async def reading(
    consumer: Consumer[bytes, bytes], wanted: ReadingOptions, settings: dict[str, object]
) -> AsyncIterator[list[str]]:
    """Let the consumer read; yields the topics there are now.

    Without a group nothing is shared, so there is no group to wait for: all
    partitions are assigned, and looked for again from time to time.
    """
    topics = await _topics(wanted, settings)
    if wanted.partition is not None:
        await _assign_one(consumer, TopicPartition(wanted.topic, wanted.partition), wanted.offset)
        yield topics
        return
    if wanted.is_in_group:
        consumer.subscribe(topics)
        yield topics
        return
    found = await _partitions(consumer, topics)
    if wanted.topic and not found:
        warn(f"WARN There is no topic {wanted.topic} yet: waiting until somebody creates it.")
    consumer.assign(found)
    looking = asyncio.create_task(_look_for_more(consumer, wanted, settings))
    try:
        yield topics
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking


async def _assign_one(
    consumer: Consumer[bytes, bytes], partition: TopicPartition, offset: str
) -> None:
    await consumer.partitions_of(partition.topic)  # which fails if there is no such topic
    consumer.assign([partition])
    match offset.lower():
        case "earliest":
            await consumer.seek_to_beginning(partition)
        case "latest":
            await consumer.seek_to_end(partition)
        case number:
            consumer.seek(partition, int(number))


async def _look_for_more(
    consumer: Consumer[bytes, bytes], wanted: ReadingOptions, settings: dict[str, object]
) -> None:
    """Read partitions and topics that were made later, all of what is in them."""
    while True:
        await asyncio.sleep(LOOK_S if consumer.assignment() else SOON_S)
        with suppress(KafkaError):
            found = await _partitions(consumer, await _topics(wanted, settings))
            new = [each for each in found if each not in consumer.assignment()]
            if new:
                consumer.assign([*consumer.assignment(), *new])
                await consumer.seek_to_beginning(*new)


async def _topics(wanted: ReadingOptions, settings: dict[str, object]) -> list[str]:
    if not wanted.pattern:
        return [wanted.topic]
    # Java's consumers take a list of names for a pattern as well.
    pattern = read_pattern(wanted.pattern.replace(" ", "").strip("\"'"))
    async with administration(TopicClient, settings) as admin:
        found = await admin.list_topics(include_internal=False)
    return [name for name in found if pattern.fullmatch(name)]


async def _partitions(
    consumer: Consumer[bytes, bytes], topics: Iterable[str]
) -> list[TopicPartition]:
    """The partitions of those topics that are there."""
    found: list[TopicPartition] = []
    for topic in topics:
        with suppress(UnknownTopicOrPartition):
            found += await consumer.partitions_of(topic)
    return found
