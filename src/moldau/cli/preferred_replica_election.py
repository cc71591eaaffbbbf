"""Elect preferred replicas, as before 3.0 (kafka-preferred-replica-election.sh)."""

import asyncio
from collections.abc import Sequence

from moldau.cli.leader_election import elect
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import BOOTSTRAP_SERVER, COMMAND_CONFIG, FORMAT, Option, Options
from moldau.cli.terminal.partition_file import partition_of, read_entries
from moldau.client.admin.reassignments import ElectionType

OPTIONS = Options(
    "preferred-replica-election",
    "Elects the preferred replica of each partition as leader.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Option("admin.config", "The other name of --command-config.", "FILE"),
    Option("path-to-json-file", "The partitions; default: all.", "FILE"),
    Option("zookeeper", "As before 2.4: write a node of ZooKeeper instead.", "SERVERS"),
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    path = given.text("path-to-json-file")
    partitions = [partition_of(each, path) for each in read_entries(path)] if path else None
    if "zookeeper" in given:
        from moldau.cli.znodes.elections import elect_with_zookeeper  # noqa: PLC0415 - seldom

        asyncio.run(elect_with_zookeeper(given.text("zookeeper"), partitions))
        return 0
    if "bootstrap-server" not in given:
        raise CommandFailed("one of --bootstrap-server and --zookeeper must be specified")
    return elect(given, ElectionType.PREFERRED, partitions)
