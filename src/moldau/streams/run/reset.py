"""Begin an application anew, as `kafka-streams-application-reset.sh` does for Kafka Streams.

The state and the offsets of its queries are forgotten, its changelogs deleted, and the manifest
says where the next start begins.
"""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from moldau.client.admin.admin import Admin
from moldau.client.offset_lookup import EARLIEST, LATEST
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.streams.run.manifest import Manifest, local_directory

Offsets = dict[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class StartPoint:
    """Where to begin: EARLIEST, LATEST, an offset, or the first record at or after a time."""

    offset: int | None = EARLIEST
    time_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Reset:
    """What is to be done."""

    checkpoint: str
    forgotten: tuple[Path, ...]
    deleted_topics: tuple[str, ...]
    starting: Offsets
    state_partitions: int | None

    def lines(self) -> list[str]:
        """In words."""
        found = [f"forget the state of {each.name} in {each}" for each in self.forgotten]
        found += [f"delete the topic {each}" for each in self.deleted_topics]
        found += [f"begin {each} at {offset}" for each, offset in sorted(self.starting.items())]
        if self.state_partitions is not None:
            found.append(f"keep state in {self.state_partitions} partitions")
        return found

    async def do(self, admin: Admin) -> None:
        """Topics first: an application that is started half way does not read old tables."""
        outcomes = await admin.delete_topics(self.deleted_topics)
        for error in outcomes.errors.values():
            if error.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise error
        for each in self.forgotten:
            shutil.rmtree(each)
        starting: dict[str, dict[str, int]] = {}
        for (topic, partition), offset in self.starting.items():
            starting.setdefault(topic, {})[str(partition)] = offset
        Manifest(starting=starting, state_partitions=self.state_partitions).write(self.checkpoint)


def checkpointed(checkpoint: str) -> tuple[Path, ...]:
    """The directories of queries; ValueError if they are not on this machine."""
    directory = local_directory(checkpoint)
    if directory is None:
        raise ValueError(f"{checkpoint} is not on this machine: delete it with its own tools")
    return tuple(sorted(each.parent for each in directory.glob("*/metadata")))


async def starting_offsets(admin: Admin, topics: Iterable[str], start: StartPoint) -> Offsets:
    """What a start means now, for all partitions of topics."""
    partitions: list[TopicPartition] = []
    described = await admin.describe_topics(topics)
    for name, error in described.errors.items():
        reason = f"there is no topic {name!r}: create it first, or correct the name"
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason) from error
    for name, topic in described.succeeded.items():
        partitions += [TopicPartition(name, each.partition) for each in topic.partitions]
    first = await _at(admin, dict.fromkeys(partitions, EARLIEST))
    last = await _at(admin, dict.fromkeys(partitions, LATEST))
    if start.time_ms is not None:
        found = await _at(admin, dict.fromkeys(partitions, start.time_ms))
        return {each: offset if offset >= 0 else last[each] for each, offset in found.items()}
    named = {EARLIEST: first, LATEST: last}
    assert start.offset is not None
    if start.offset in named:
        return named[start.offset]
    wanted = start.offset
    return {each: min(max(wanted, first[each]), last[each]) for each in partitions}


async def _at(admin: Admin, times: Mapping[TopicPartition, int]) -> Offsets:
    found = await admin.list_offsets(times)
    return {each: at.offset for each, at in found.items()}
