"""Print the requests that each broker supports (kafka-broker-api-versions.sh)."""

import json
from collections.abc import Iterator, Mapping, Sequence

from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import BOOTSTRAP_SERVER, COMMAND_CONFIG, FORMAT, Options, warn
from moldau.client.admin.connected import Connected
from moldau.client.admin.description import BrokerDescription, DescriptionArea
from moldau.client.admin.outcomes import Outcomes
from moldau.protocol.apis import APIS

OPTIONS = Options(
    "broker-api-versions",
    "Prints the requests that each broker supports, with their versions.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
)

Spoken = Mapping[int, range]


class VersionAdmin(DescriptionArea, Connected):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    if "bootstrap-server" not in given:
        raise CommandFailed('Missing required argument "[bootstrap-server]"')
    brokers, versions = run_admin(given, VersionAdmin, _ask)
    if given.is_json:
        print(json.dumps({str(each.node_id): _as_data(each, versions) for each in brokers}))
        return 0
    for each in brokers:
        error = versions.errors.get(each.node_id)
        if error is not None:
            print(f"{label(each)} -> ERROR: {error}")
        else:
            print("\n".join(lines(each, versions[each.node_id])))
    for error in versions.errors.values():
        warn(str(error))
    return 0


def label(broker: BrokerDescription) -> str:
    """A broker as Java prints it."""
    rack = broker.rack if broker.rack is not None else "null"
    return f"{broker.host}:{broker.port} (id: {broker.node_id} rack: {rack})"


def lines(broker: BrokerDescription, spoken: Spoken) -> Iterator[str]:
    """What one broker understands, and the newest of it that we speak too."""
    yield f"{label(broker)} -> ("
    rows = [f"\t{api.name}({api.key}): {_range(spoken, api.key, api.versions)}" for api in APIS]
    known = {api.key for api in APIS}
    rows += [
        f"\tUNKNOWN({key}): {_shown(versions)}"
        for key, versions in sorted(spoken.items())
        if key not in known
    ]
    yield ",\n".join(rows)
    yield ")"


def _range(spoken: Spoken, key: int, ours: range) -> str:
    theirs = spoken.get(key)
    if theirs is None:
        return "UNSUPPORTED"
    newest = min(theirs[-1], ours[-1])
    usable = newest if newest >= max(theirs[0], ours[0]) else "none"
    return f"{_shown(theirs)} [usable: {usable}]"


def _shown(versions: range) -> str:
    first, last = versions[0], versions[-1]
    return str(first) if first == last else f"{first} to {last}"


def _as_data(broker: BrokerDescription, versions: Outcomes[int, dict[int, range]]) -> object:
    error = versions.errors.get(broker.node_id)
    if error is not None:
        return {"error": str(error)}
    spoken = versions[broker.node_id]
    return {str(key): [each[0], each[-1]] for key, each in sorted(spoken.items())}


async def _ask(
    admin: VersionAdmin,
) -> tuple[list[BrokerDescription], Outcomes[int, dict[int, range]]]:
    cluster = await admin.describe_cluster()
    found = await admin.describe_api_versions([each.node_id for each in cluster.brokers])
    return sorted(cluster.brokers, key=lambda each: each.node_id), found
