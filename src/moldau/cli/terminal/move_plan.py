"""Plans of moves: where partitions are to be, read from a file or proposed."""

import json
from collections.abc import Mapping, Sequence

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Given
from moldau.cli.terminal.partition_file import field, partition_of, read_entries, require_unique
from moldau.client.admin.log_dirs import Replica
from moldau.controller.assignment import BrokerCandidate, Start, assign_replicas
from moldau.model import TopicPartition
from moldau.runtime.random import Random

Plan = dict[TopicPartition, list[int]]
_ANY = "any"


def brokers_of(given: Given, racks: Mapping[int, str | None]) -> list[BrokerCandidate]:
    """The brokers of `--broker-list`, with their racks if all have one and they are to count."""
    try:
        wanted = [int(each) for each in given.text("broker-list").split(",")]
    except ValueError:
        raise CommandFailed(f"--broker-list: {given.text('broker-list')} are no numbers") from None
    uses_racks = "disable-rack-aware" not in given and all(racks.get(each) for each in wanted)
    return [BrokerCandidate(each, racks.get(each) if uses_racks else None) for each in wanted]


def propose(current: Plan, brokers: Sequence[BrokerCandidate], random: Random) -> Plan:
    """The same partitions, with as many replicas as they have, spread over these brokers."""
    proposed: Plan = {}
    for topic in dict.fromkeys(each.topic for each in current):
        old = {each: replicas for each, replicas in current.items() if each.topic == topic}
        placed = assign_replicas(
            brokers,
            partition_count=len(old),
            replication_factor=len(next(iter(old.values()))),
            start=Start(random.below(len(brokers)), random.below(len(brokers))),
        )
        proposed |= {TopicPartition(topic, each): list(found) for each, found in placed.items()}
    return proposed


def as_json(plan: Mapping[TopicPartition, Sequence[int]]) -> str:
    """A plan as this command reads it."""
    listed = [
        {
            "topic": each.topic,
            "partition": each.partition,
            "replicas": list(plan[each]),
            "log_dirs": [_ANY] * len(plan[each]),
        }
        for each in sorted(plan)
    ]
    return json.dumps({"version": 1, "partitions": listed}, separators=(",", ":"))


def read_plan(given: Given) -> tuple[Plan, dict[Replica, str]]:
    """The plan in the file, and the directories that it names for replicas."""
    given.require("reassignment-json-file")
    path = given.text("reassignment-json-file")
    entries = read_entries(path)
    partitions = [partition_of(each, path) for each in entries]
    require_unique(partitions, "Partition reassignment contains duplicate topic partitions")
    plan: Plan = {}
    directories: dict[Replica, str] = {}
    for partition, entry in zip(partitions, entries, strict=True):
        plan[partition] = field(entry, "replicas", list, path)
        if not all(type(each) is int for each in plan[partition]):
            raise CommandFailed(f"{path}: replicas of {partition} are expected to be numbers")
        named = {"log_dirs": [_ANY] * len(plan[partition])} | entry
        paths = field(named, "log_dirs", list, path)
        for broker, directory in zip(plan[partition], paths, strict=False):
            if directory != _ANY:
                directories[Replica(broker, partition)] = str(directory)
    if not plan:
        raise CommandFailed("Partition reassignment list cannot be empty")
    return plan, directories
