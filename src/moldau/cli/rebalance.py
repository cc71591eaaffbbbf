"""Spread partitions, leaders and bytes evenly over the brokers of any Kafka cluster.

It plans from what is there, moves a few partitions at a time, and can be interrupted: the next run
goes on. What is being moved already is waited for first.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence

from moldau.cli.terminal.administration import administration
from moldau.cli.terminal.client_settings import read_file, usable
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.progress import Bar, as_size, progress_bar
from moldau.client.admin.log_dirs import LogDirsArea
from moldau.client.admin.reassignments import ReassignmentsArea
from moldau.client.admin.spreading import Load, Spreading, loads
from moldau.client.admin.throttles import ThrottleAdmin, clear_throttles, set_throttles
from moldau.client.admin.topics import TopicsArea
from moldau.client.settings import AdminSettings
from moldau.model import TopicPartition

Plan = dict[TopicPartition, list[int]]
_POLL_S = 0.2


class RebalanceAdmin(TopicsArea, ReassignmentsArea, LogDirsArea, ThrottleAdmin):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    options = _parser().parse_args(arguments)
    asyncio.run(_run(options))
    return 0


async def _run(options: argparse.Namespace) -> None:
    texts = read_file(options.command_config or "")
    values = usable(AdminSettings, {**texts, "bootstrap.servers": options.bootstrap_server})
    async with administration(RebalanceAdmin, values) as admin:
        await _until_moved(admin, set(await admin.list_partition_reassignments()), None)
        current = await _assignments(admin, options.topic)
        sizes = await _sizes(admin)
        racks = {each.node_id: each.rack for each in (await admin.describe_cluster()).brokers}
        brokers = _brokers(options.brokers, racks)
        plan = Spreading(brokers, racks, sizes).plan(current)
        _print_plan(current, plan, sizes, sorted(racks))
        if plan and not options.dry_run:
            await _move(admin, options, current, plan)


async def _move(
    admin: RebalanceAdmin, options: argparse.Namespace, current: Plan, plan: Plan
) -> None:
    if options.throttle is not None:
        before = {each: current[each] for each in plan}
        await set_throttles(admin, before, plan, options.throttle)
    partitions = sorted(plan)
    with progress_bar(len(plan), lambda count: f"{count} partitions") as bar:
        for start in range(0, len(partitions), options.at_once):
            batch = partitions[start : start + options.at_once]
            wanted = {each: plan[each] for each in batch}
            (await admin.alter_partition_reassignments(wanted)).check()
            await _until_moved(admin, set(batch), bar)
    await admin.elect_leaders(partitions)  # those that lead already are marked by an error
    if options.throttle is not None:
        await clear_throttles(admin, dict.fromkeys(each.topic for each in plan), print)
    print(f"{len(plan)} partitions are where they should be")


async def _until_moved(admin: RebalanceAdmin, moving: set[TopicPartition], bar: Bar | None) -> None:
    while moving:
        left = moving & set(await admin.list_partition_reassignments(moving))
        if bar is not None:
            bar.advance(len(moving) - len(left))
        if left:
            await asyncio.sleep(_POLL_S)
        moving = left


async def _assignments(admin: RebalanceAdmin, topics: Sequence[str]) -> Plan:
    names = list(topics) or list(await admin.list_topics(include_internal=True))
    described = await admin.describe_topics(names)
    for name, error in described.errors.items():
        raise CommandFailed(f"Topic {name}: {error}")
    return {
        TopicPartition(topic.name, each.partition): list(each.replicas)
        for topic in described.values()
        for each in topic.partitions
    }


async def _sizes(admin: RebalanceAdmin) -> dict[TopicPartition, int]:
    """The bytes of each partition: of the replica that has most."""
    found: dict[TopicPartition, int] = {}
    for directories in (await admin.describe_log_dirs()).succeeded.values():
        for directory in directories.values():
            for partition, replica in directory.replicas.items():
                found[partition] = max(found.get(partition, 0), replica.size_bytes)
    return found


def _brokers(wanted: str | None, racks: Mapping[int, str | None]) -> list[int]:
    if wanted is None:
        return sorted(racks)
    parts = wanted.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise CommandFailed(f"--brokers: {wanted} is no list of numbers")
    found = sorted({int(part) for part in parts})
    missing = [str(each) for each in found if each not in racks]
    if missing:
        raise CommandFailed(f"--brokers: {', '.join(missing)} is not in the cluster")
    return found


def _print_plan(
    current: Plan, plan: Plan, sizes: Mapping[TopicPartition, int], brokers: Sequence[int]
) -> None:
    before, after = loads(current, sizes, brokers), loads({**current, **plan}, sizes, brokers)
    print(f"{'broker':8} {'replicas':>14} {'preferred':>14} {'size':>24}")
    for broker in brokers:
        print(f"{broker:<8} {_columns(before[broker], after[broker])}")
    if not plan:
        print("All is spread evenly: nothing to move")
        return
    copied = sum(
        sizes.get(each, 0) * len(set(replicas) - set(current[each]))
        for each, replicas in plan.items()
    )
    print(f"{len(plan)} partitions change, {as_size(copied)} are copied:")
    for each, replicas in plan.items():
        print(f"  {each}: {_listed(current[each])} -> {_listed(replicas)}")


def _columns(before: Load, after: Load) -> str:
    sizes = f"{as_size(before.size_bytes)} -> {as_size(after.size_bytes)}"
    replicas = f"{before.replicas} -> {after.replicas}"
    return f"{replicas:>14} {f'{before.leaders} -> {after.leaders}':>14} {sizes:>24}"


def _listed(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="moldau rebalance",
        allow_abbrev=False,
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    about = "the brokers to connect to; default: localhost:9092"
    parser.add_argument(
        "--bootstrap-server", default="localhost:9092", metavar="SERVERS", help=about
    )
    parser.add_argument("--command-config", metavar="FILE", help="settings of the client")
    parser.add_argument("--dry-run", action="store_true", help="only print the plan")
    parser.add_argument(
        "--brokers", metavar="0,1", help="only these are to have replicas; default: all"
    )
    parser.add_argument(
        "--topic", action="append", default=[], help="only this topic; may be repeated"
    )
    parser.add_argument(
        "--throttle",
        type=int,
        metavar="BYTES",
        help="bytes per second between brokers; a run that is cut off leaves it to the next",
    )
    parser.add_argument(
        "--at-once", type=int, default=10, metavar="N", help="so many partitions move at a time"
    )
    return parser
