"""Elect leaders of partitions (kafka-leader-election.sh)."""

import json
from collections.abc import Sequence

from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Given,
    Option,
    Options,
)
from moldau.cli.terminal.partition_file import partition_of, read_entries, require_unique
from moldau.client.admin.connected import Connected
from moldau.client.admin.reassignments import ElectionType, ReassignmentsArea
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

OPTIONS = Options(
    "leader-election",
    "Elects the preferred replica, or with unclean a replica that is not in sync, as leader.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Option("admin.config", "The other name of --command-config.", "FILE"),
    Option("election-type", "preferred or unclean.", "TYPE"),
    Option("topic", "The topic of the partition.", "TOPIC"),
    Option("partition", "The partition.", "NUMBER", kind=int),
    Option("all-topic-partitions", "All partitions."),
    Option("path-to-json-file", 'Partitions: {"partitions": [{"topic": …}]}.', "FILE"),
)


class ElectionAdmin(ReassignmentsArea, Connected):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    missing = [name for name in ("bootstrap-server", "election-type") if name not in given]
    if missing:
        raise CommandFailed(f"Missing required option(s): {', '.join(missing)}")
    kinds = {kind.name.lower(): kind for kind in ElectionType}
    wanted = given.text("election-type").lower()
    if wanted not in kinds:
        raise CommandFailed(f"--election-type is preferred or unclean, not {wanted}")
    return elect(given, kinds[wanted], _partitions(given))


def elect(given: Given, kind: ElectionType, partitions: list[TopicPartition] | None) -> int:
    """Elect, and print what became of each partition; of all of them if there is no list."""

    async def run(admin: ElectionAdmin) -> dict[TopicPartition, KafkaError | None]:
        outcomes = await admin.elect_leaders(partitions, election_type=kind)
        return {each: outcomes.errors.get(each) for each in outcomes}

    found = run_admin(given, ElectionAdmin, run)
    if given.is_json:
        print(json.dumps([_as_data(*each) for each in found.items()]))
        return int(any(error is not None and not _is_unneeded(error) for error in found.values()))
    done = [str(each) for each, error in found.items() if error is None]
    unneeded = [
        str(each) for each, error in found.items() if error is not None and _is_unneeded(error)
    ]
    if done:
        listed = ", ".join(done)
        print(f"Successfully completed leader election ({kind.name}) for partitions {listed}")
    if unneeded and partitions is not None:
        print(f"Valid replica already elected for partitions {', '.join(unneeded)}")
    failed = {each: error for each, error in found.items() if str(each) not in done + unneeded}
    for partition, error in failed.items():
        print(f"Error completing leader election ({kind.name}) for partition: {partition}: {error}")
    if failed:
        raise CommandFailed(f"{len(failed)} replica(s) could not be elected")
    return 0


def _is_unneeded(error: KafkaError) -> bool:
    return error.code is ErrorCode.ELECTION_NOT_NEEDED


def _as_data(partition: TopicPartition, error: KafkaError | None) -> dict[str, object]:
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "is_elected": error is None,
        "error": None if error is None else error.code.name,
    }


def _partitions(given: Given) -> list[TopicPartition] | None:
    ways = ("topic", "all-topic-partitions", "path-to-json-file")
    if sum(way in given for way in ways) != 1:
        raise CommandFailed(
            "One and only one of the following options is required: "
            "topic, all-topic-partitions, path-to-json-file"
        )
    if "all-topic-partitions" in given:
        return None
    if "topic" in given:
        if "partition" not in given:
            raise CommandFailed("Missing required option(s): partition")
        return [TopicPartition(given.text("topic"), given.number("partition"))]
    path = given.text("path-to-json-file")
    found = [partition_of(each, path) for each in read_entries(path)]
    require_unique(found, "Replica election data contains duplicate partitions")
    return found
