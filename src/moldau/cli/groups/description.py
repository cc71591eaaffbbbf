"""How far groups are, and their members."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from moldau.cli.groups.partitions import GroupAdmin
from moldau.cli.terminal.options import Given, warn
from moldau.client.admin.groups import GroupDescription, MemberDescription
from moldau.client.offset_lookup import LATEST
from moldau.model import TopicPartition

NONE = "-"
DEAD = "Dead"
EMPTY = "Empty"
_REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """How far a group is in one partition, and which member reads it."""

    partition: TopicPartition
    current: int | None
    end: int | None
    member: MemberDescription | None

    @property
    def lag(self) -> int | None:
        """How many records there are behind the group's offset."""
        if self.current is None or self.end is None:
            return None
        return self.end - self.current


async def describe(admin: GroupAdmin, given: Given) -> None:
    """Print what is asked for of each group."""
    wanted = list(dict.fromkeys(given.texts("group")))
    if "all-groups" in given:
        wanted = [each.group_id for each in await admin.list_groups()]
    groups = await admin.describe_groups(wanted)
    described = [groups[group_id] for group_id in wanted]
    if given.is_json:
        print(json.dumps([await _as_data(admin, each) for each in described]))
        return
    if "state" in given:
        await _print_states(admin, described)
        return
    for group in described:
        if group.state == DEAD:
            print(f"\nError: Consumer group '{group.group_id}' does not exist.")
            continue
        _print_state(group)
        if "members" in given:
            print_members(group, is_verbose="verbose" in given)
        else:
            print_progress(group, await progress_of(admin, group))


async def progress_of(admin: GroupAdmin, group: GroupDescription) -> list[PartitionProgress]:
    """All partitions that the group has committed or reads, those that are read first."""
    committed = (await admin.list_group_offsets(group.group_id))[group.group_id]
    readers = {each: member for member in group.members for each in member.assignment}
    partitions = [*readers, *(each for each in sorted(committed) if each not in readers)]
    ends = (await admin.list_offsets(dict.fromkeys(partitions, LATEST))).succeeded
    return [
        PartitionProgress(
            each,
            committed[each].offset if each in committed else None,
            ends[each].offset if each in ends else None,
            readers.get(each),
        )
        for each in partitions
    ]


def print_progress(group: GroupDescription, progress: Iterable[PartitionProgress]) -> None:
    """The table that most people look at."""
    rows = [
        [
            group.group_id,
            each.partition.topic,
            str(each.partition.partition),
            _shown(each.current),
            _shown(each.end),
            _shown(each.lag),
            NONE if each.member is None else each.member.member_id,
            NONE if each.member is None else each.member.host,
            NONE if each.member is None else each.member.client_id,
        ]
        for each in progress
    ]
    if not rows:
        return
    titles = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
    _print_table(titles.split(), rows, [15, 15, 10, 15, 15, 15, 15, 15, 0])


def print_members(group: GroupDescription, *, is_verbose: bool) -> None:
    """The members of the group, with how many partitions; verbosely, with which."""
    has_static = any(member.instance_id for member in group.members)
    titles = ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"]
    widths = [15, 15, 15, 15, 15]
    if has_static:
        titles.insert(2, "GROUP-INSTANCE-ID")
        widths.insert(2, 17)
    titles.append("ASSIGNMENT" if is_verbose else "")
    widths.append(0)
    rows: list[list[str]] = []
    for member in group.members:
        row = [group.group_id, member.member_id, member.host, member.client_id]
        row.append(str(len(member.assignment)))
        if has_static:
            row.insert(2, member.instance_id or "")
        row.append(assignment_text(member.assignment) if is_verbose else "")
        rows.append(row)
    _print_table(titles, rows, widths)


def assignment_text(partitions: Iterable[TopicPartition]) -> str:
    """Partitions as in `a(0,1), b(2)`."""
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    parts = (f"{topic}({','.join(map(str, numbers))})" for topic, numbers in topics.items())
    return ", ".join(parts) or NONE


async def _print_states(admin: GroupAdmin, groups: Iterable[GroupDescription]) -> None:
    cluster = await admin.describe_cluster()
    addresses = {each.node_id: f"{each.host}:{each.port}" for each in cluster.brokers}
    for group in groups:
        if group.state == DEAD:
            print(f"\nError: Consumer group '{group.group_id}' does not exist.")
            continue
        _print_state(group)
        _print_table(
            ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"],
            [state_row(group, addresses)],
            [25, 25, 20, 15, 0],
        )


def state_row(group: GroupDescription, addresses: Mapping[int, str]) -> list[str]:
    """A group's state, and which broker keeps it."""
    coordinator = f"{addresses.get(group.coordinator, NONE)}  ({group.coordinator})"
    return [group.group_id, coordinator, group.assignor, group.state, str(len(group.members))]


def _print_state(group: GroupDescription) -> None:
    if group.state == EMPTY:
        warn(f"\nConsumer group '{group.group_id}' has no active members.")
    elif group.state in _REBALANCING:
        warn(f"\nWarning: Consumer group '{group.group_id}' is rebalancing.")


def _print_table(titles: list[str], rows: list[list[str]], widths: list[int]) -> None:
    """Columns as wide as their widest cell and no narrower than they are by Apache's tool."""
    fitted = [
        max([width, *(len(row[column]) for row in rows)]) if width else 0
        for column, width in enumerate(widths)
    ]
    print()
    for row in [titles, *rows]:
        print(" ".join(f"{cell:{width}}" for cell, width in zip(row, fitted, strict=True)))


def _shown(number: int | None) -> str:
    return NONE if number is None else str(number)


async def _as_data(admin: GroupAdmin, group: GroupDescription) -> dict[str, object]:
    progress = await progress_of(admin, group)
    return {
        "group": group.group_id,
        "state": group.state,
        "assignor": group.assignor,
        "coordinator": group.coordinator,
        "members": [
            {
                "member": member.member_id,
                "instance": member.instance_id,
                "client": member.client_id,
                "host": member.host,
                "partitions": [list(each) for each in member.assignment],
            }
            for member in group.members
        ],
        "offsets": [
            {
                "topic": each.partition.topic,
                "partition": each.partition.partition,
                "current": each.current,
                "end": each.end,
                "lag": each.lag,
                "member": None if each.member is None else each.member.member_id,
            }
            for each in progress
        ],
    }
