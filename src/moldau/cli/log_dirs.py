"""Print sizes and directories of replicas (kafka-log-dirs.sh)."""

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
from moldau.client.admin.connected import Connected
from moldau.client.admin.description import DescriptionArea
from moldau.client.admin.log_dirs import LogDir, LogDirsArea

OPTIONS = Options(
    "log-dirs",
    "Prints the directories of brokers with the replicas in them, as JSON.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Option("describe", "Describe the directories."),
    Option("topic-list", "Only these topics: a,b,c.", "TOPICS"),
    Option("broker-list", "Only these brokers: 0,1,2.", "NUMBERS"),
)


class DirectoryAdmin(LogDirsArea, DescriptionArea, Connected):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.require("describe", "bootstrap-server")
    found = run_admin(given, DirectoryAdmin, lambda admin: _describe(admin, given))
    if not given.is_json:
        print("Querying brokers for log directories information")
        brokers = ",".join(map(str, found))
        print(f"Received log directory information from brokers {brokers}")
    wanted = [name for name in given.text("topic-list").split(",") if name]
    data = {
        "brokers": [
            {"broker": broker, "logDirs": [_as_data(each, wanted) for each in directories]}
            for broker, directories in found.items()
        ],
        "version": 1,
    }
    print(json.dumps(data, separators=(",", ":")))
    return 0


async def _describe(admin: DirectoryAdmin, given: Given) -> dict[int, list[LogDir]]:
    cluster = await admin.describe_cluster()
    there = sorted(each.node_id for each in cluster.brokers)
    # The option of this name says where to begin elsewhere, and which brokers to ask here.
    try:
        wanted = [int(each) for each in given.text("broker-list").split(",") if each] or there
    except ValueError:
        raise CommandFailed(f"--broker-list: {given.text('broker-list')} are no numbers") from None
    missing = [each for each in wanted if each not in there]
    if missing:
        listed, known = (", ".join(map(str, brokers)) for brokers in (missing, there))
        raise CommandFailed(
            f"ERROR: The given brokers do not exist from --broker-list: {listed}. "
            f"Current existent brokers: {known}"
        )
    outcomes = await admin.describe_log_dirs(wanted)
    return {broker: list(directories.values()) for broker, directories in outcomes.items()}


def _as_data(directory: LogDir, topics: Sequence[str]) -> dict[str, object]:
    return {
        "partitions": [
            {
                "partition": str(partition),
                "size": replica.size_bytes,
                "offsetLag": replica.offset_lag,
                "isFuture": replica.is_future,
            }
            for partition, replica in directory.replicas.items()
            if not topics or partition.topic in topics
        ],
        "error": None if directory.error is None else str(directory.error),
        "logDir": directory.path,
    }
