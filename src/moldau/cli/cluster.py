"""Print the cluster's id, or take a broker out of it (kafka-cluster.sh)."""

import json
from collections.abc import Sequence
from dataclasses import replace

from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import (
    BOOTSTRAP_CONTROLLER,
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Option,
    Options,
)
from moldau.client.admin.connected import Connected
from moldau.client.admin.description import ClusterDescription, DescriptionArea

OPTIONS = Options(
    "cluster",
    "cluster-id prints the id of the cluster; unregister takes a broker out of it.",
    BOOTSTRAP_SERVER,
    replace(COMMAND_CONFIG, aliases=("config", "c")),
    BOOTSTRAP_CONTROLLER,
    FORMAT,
    Option("id", "The broker to unregister.", "NUMBER", kind=int, aliases=("i",)),
    arguments="cluster-id|unregister",
    takes_abbreviations=True,
)


class ClusterAdmin(DescriptionArea, Connected):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.refuse_controller()
    if given.rest not in (["cluster-id"], ["unregister"]):
        raise CommandFailed("kafka-cluster: one of cluster-id, unregister is expected")
    cluster = run_admin(given, ClusterAdmin, _describe)
    if given.rest == ["unregister"]:
        given.require("id")
        # Brokers with ZooKeeper are out as soon as they are gone: Apache's say the same.
        print("The target cluster does not support the broker unregistration API.")
    elif given.is_json:
        print(json.dumps({"cluster_id": cluster.cluster_id}))
    elif cluster.cluster_id is None:
        print("No cluster ID found. The Kafka version is probably too old.")
    else:
        print(f"Cluster ID: {cluster.cluster_id}")
    return 0


async def _describe(admin: ClusterAdmin) -> ClusterDescription:
    return await admin.describe_cluster()
