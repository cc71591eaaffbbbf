"""List, describe, delete and reset consumer groups (kafka-consumer-groups.sh)."""

from collections.abc import Awaitable, Callable, Sequence

from moldau.cli.groups.deletion import delete_groups, delete_offsets
from moldau.cli.groups.description import describe
from moldau.cli.groups.listing import list_groups
from moldau.cli.groups.partitions import GroupAdmin
from moldau.cli.groups.resetting import WAYS, reset_offsets
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
from moldau.errors import KafkaError

OPTIONS = Options(
    "consumer-groups",
    "Lists, describes, deletes and resets consumer groups.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Option("list", "Print the names of groups."),
    Option(
        "describe",
        "Print offsets and lag of groups, or members with --members, or states with --state.",
    ),
    Option("delete", "Delete groups without members."),
    Option("delete-offsets", "Delete offsets of topics that the group is not subscribed to."),
    Option("reset-offsets", "Reset the offsets of a group without members."),
    Option("group", "The group; may be repeated.", "GROUP"),
    Option("all-groups", "All groups."),
    Option("topic", "The topic, or some partitions of it: t:0,1; may be repeated.", "TOPIC"),
    Option("all-topics", "All topics of the group."),
    Option("members", "Describe members."),
    Option("offsets", "Describe offsets, as without an option."),
    Option("state", "Describe or list states, or list groups in these.", "STATES", True),
    Option("type", "List types, or groups of these.", "TYPES", True),
    Option("verbose", "Print more about each member."),
    Option("timeout", "How long to wait for a response; default: 5000.", "MILLISECONDS", kind=int),
    Option("to-earliest", "Reset to the first offset."),
    Option("to-latest", "Reset to the last offset."),
    Option("to-current", "Reset to the committed offsets."),
    Option("to-offset", "Reset to this offset.", "OFFSET", kind=int),
    Option("to-datetime", "Reset to a time: 2026-01-31T00:00:00.000.", "TIME"),
    Option("by-duration", "Reset to a time ago: P1DT2H3M4S.", "DURATION"),
    Option("shift-by", "Move by so many records, back if negative.", "COUNT", kind=int),
    Option("from-file", "Reset to what --export printed.", "FILE"),
    Option("execute", "Do it."),
    Option("dry-run", "Only print what would be done."),
    Option("export", "Print the result as CSV, for --from-file."),
    Option("new-consumer", "Ignored, for old scripts."),
    Option("zookeeper", "Refused: for groups before 0.9.", "SERVERS"),
)

_TIMEOUT_MS = 5_000
_ACTIONS: dict[str, Callable[[GroupAdmin, Given], Awaitable[None]]] = {
    "list": list_groups,
    "describe": describe,
    "delete": delete_groups,
    "reset-offsets": reset_offsets,
    "delete-offsets": delete_offsets,
}


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    action = check(given)
    try:
        run_admin(
            given,
            GroupAdmin,
            lambda admin: _ACTIONS[action](admin, given),
            timeout_ms=given.number("timeout", _TIMEOUT_MS),
        )
    except KafkaError as error:
        print(f"\nError: Executing consumer group command failed due to {error}")
        return 1
    return 0


def check(given: Given) -> str:
    """The one thing that is to be done; ends unless the options fit together."""
    actions = [name for name in _ACTIONS if name in given]
    if len(actions) != 1:
        raise CommandFailed(
            "Command must include exactly one action: "
            "--list, --describe, --delete, --reset-offsets, --delete-offsets"
        )
    (action,) = actions
    if "zookeeper" in given:
        raise CommandFailed("groups are kept by brokers, not by ZooKeeper: use --bootstrap-server")
    given.require("bootstrap-server")
    if action == "describe":
        _check_describe(given)
    if action in ("delete", "delete-offsets") and "group" not in given:
        if action == "delete" and "all-groups" in given:
            return action
        needed = "[group], [all-groups]" if action == "delete" else "[group]"
        raise CommandFailed(f'Option "[{action}]" takes one of these options: {needed}')
    if action == "delete-offsets" and "topic" not in given:
        raise CommandFailed(
            'Option "[delete-offsets]" takes the following options: [group], [topic]'
        )
    if action == "reset-offsets":
        _check_reset(given)
    return action


def _check_describe(given: Given) -> None:
    if "group" not in given and "all-groups" not in given:
        raise CommandFailed('Option "[describe]" takes one of these options: [group], [all-groups]')
    given.refuse("group", "all-groups")
    chosen = [name for name in ("members", "offsets", "state") if name in given]
    if len(chosen) > 1:
        raise CommandFailed(
            'Option "[describe]" takes at most one of these options: [members], [offsets], [state]'
        )
    if given.text("state"):
        raise CommandFailed('Option "[describe]" does not take a value for "[state]"')


def _check_reset(given: Given) -> None:
    given.refuse("dry-run", "execute")
    if "group" not in given and "all-groups" not in given:
        raise CommandFailed(
            'Option "[reset-offsets]" takes one of these options: [group], [all-groups]'
        )
    if sum(way in given for way in WAYS) != 1:
        ways = ", ".join(f"[{way}]" for way in WAYS)
        raise CommandFailed(f'Option "[reset-offsets]" takes exactly one of: {ways}')
