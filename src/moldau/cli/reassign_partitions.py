"""Move partitions to other brokers (kafka-reassign-partitions.sh)."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence, Sized

from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.directory_moves import DirectoryMove, directory_moves
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.move_plan import Plan, as_json, brokers_of, propose, read_plan
from moldau.cli.terminal.options import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Given,
    Option,
    Options,
)
from moldau.cli.terminal.partition_file import read_topics
from moldau.client.admin.log_dirs import LogDirsArea, Replica
from moldau.client.admin.reassignments import ReassignmentsArea
from moldau.client.admin.throttles import (
    ThrottleAdmin,
    clear_throttles,
    set_directory_throttle,
    set_throttles,
)
from moldau.client.admin.topics import TopicsArea
from moldau.model import TopicPartition
from moldau.runtime.random import SystemRandom

_UNDER_WAY = (
    "Cannot execute because there is an existing partition assignment. Use --additional "
    "to override this and create a new partition assignment in addition to the existing "
    "one. The --additional option can also be used to change the throttle by resubmitting "
    "the current reassignment."
)
_ACTIONS = ("generate", "execute", "verify", "cancel", "list")

OPTIONS = Options(
    "reassign-partitions",
    "Moves partitions to other brokers: --generate a plan, --execute it, --verify it.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Option("generate", "Print a plan for topics and brokers."),
    Option("execute", "Start the reassignment."),
    Option("verify", "Print the progress; remove the throttle at the end."),
    Option("cancel", "Cancel the reassignment."),
    Option("list", "Print the reassignments in progress."),
    Option("topics-to-move-json-file", 'Topics: {"topics": [{"topic": "t"}]}.', "FILE"),
    Option("reassignment-json-file", "The plan that --generate printed.", "FILE"),
    Option("broker-list", "Brokers to move to: 0,1,2.", "NUMBERS"),
    Option("throttle", "Bytes per second between brokers.", "BYTES", kind=int),
    Option(
        "replica-alter-log-dirs-throttle",
        "Bytes per second between directories.",
        "BYTES",
        kind=int,
    ),
    Option("preserve-throttles", "Leave the throttle as it is."),
    Option("additional", "Add to the reassignment in progress."),
    Option("disable-rack-aware", "Ignore racks."),
    Option("timeout", "Ignored, for old scripts.", "MILLISECONDS"),
    Option("zookeeper", "As before 2.6: read and write ZooKeeper instead.", "SERVERS"),
)


class ReassignmentAdmin(TopicsArea, ReassignmentsArea, LogDirsArea, ThrottleAdmin):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    actions = [name for name in _ACTIONS if name in given]
    if len(actions) != 1:
        raise CommandFailed(
            "Command must include exactly one action: "
            "--generate, --execute, --verify, --cancel, --list"
        )
    (action,) = actions
    if "zookeeper" in given:
        given.refuse_json("--zookeeper")
        from moldau.cli.znodes.reassignments import move_with_zookeeper  # noqa: PLC0415 - seldom

        asyncio.run(move_with_zookeeper(given, action))
        return 0
    if "bootstrap-server" not in given:
        raise CommandFailed("Please specify --bootstrap-server")
    work = _WORK[action]
    run_admin(given, ReassignmentAdmin, lambda admin: work(admin, given))
    return 0


async def _generate(admin: ReassignmentAdmin, given: Given) -> None:
    given.require("topics-to-move-json-file", "broker-list")
    topics = read_topics(given.text("topics-to-move-json-file"))
    racks = {each.node_id: each.rack for each in (await admin.describe_cluster()).brokers}
    current = await _assignments(admin, topics)
    proposed = propose(current, brokers_of(given, racks), SystemRandom())
    if given.is_json:
        print(f'{{"current":{as_json(current)},"proposed":{as_json(proposed)}}}')
        return
    print(f"Current partition replica assignment\n{as_json(current)}\n")
    print(f"Proposed partition reassignment configuration\n{as_json(proposed)}")


async def _execute(admin: ReassignmentAdmin, given: Given) -> None:
    plan, directories = read_plan(given)
    say = _speaker(given)
    under_way = await admin.list_partition_reassignments()
    if under_way and "additional" not in given:
        raise CommandFailed(_UNDER_WAY)
    current = await _assignments(admin, dict.fromkeys(each.topic for each in plan))
    missing = [str(each) for each in plan if each not in current]
    if missing:
        raise CommandFailed(f"Partition reassignment failed: {', '.join(missing)} do not exist")
    before = {each: current[each] for each in plan}
    say(f"Current partition replica assignment\n\n{as_json(before)}\n")
    say("Save this to use as the --reassignment-json-file option during rollback")
    await _throttle(admin, given, before, plan, directories)
    outcomes = await admin.alter_partition_reassignments(plan)
    for partition, error in outcomes.errors.items():
        print(f"Error reassigning partition(s):\n{partition}: {error}")
    if outcomes.errors:
        raise CommandFailed("")
    names = ",".join(map(str, sorted(plan)))
    say(f"Successfully started partition reassignment{_s(plan)} for {names}")
    if directories:
        (await admin.alter_replica_log_dirs(directories)).check()
        say(f"Successfully started log directory move{_s(directories)} for: {_named(directories)}")
    if given.is_json:
        print(as_json(before))


async def _throttle(
    admin: ReassignmentAdmin, given: Given, before: Plan, plan: Plan, moves: Iterable[Replica]
) -> None:
    between, within = "throttle" in given, "replica-alter-log-dirs-throttle" in given
    say = _speaker(given)
    if between or within:
        say(
            "Warning: You must run --verify periodically, until the reassignment completes, to "
            "ensure the throttle is removed."
        )
    if between:
        rate = given.number("throttle")
        await set_throttles(admin, before, plan, rate)
        say(f"The inter-broker throttle limit was set to {rate} B/s")
    if within:
        rate = given.number("replica-alter-log-dirs-throttle")
        await set_directory_throttle(admin, [each.broker for each in moves], rate)
        say(f"The replica-alter-dir throttle limit was set to {rate} B/s")


async def _verify(admin: ReassignmentAdmin, given: Given) -> None:
    plan, directories = read_plan(given)
    under_way = await admin.list_partition_reassignments(plan)
    current = await _assignments(admin, dict.fromkeys(each.topic for each in plan))
    moves = await directory_moves(admin, directories)
    say = _speaker(given)
    say("Status of partition reassignment:")
    states: list[dict[str, object]] = []
    for partition in sorted(plan):
        found = current.get(partition)
        if partition in under_way:
            state, line = "moving", f"Reassignment of partition {partition} is still in progress."
        elif found == plan[partition]:
            state, line = "completed", f"Reassignment of partition {partition} is completed."
        else:
            state, line = (
                "not moving",
                (
                    f"There is no active reassignment of partition {partition}, but replica set is "
                    f"{_listed(found)} rather than {_listed(plan[partition])}."
                ),
            )
        say(line)
        topic, number = partition
        states.append({"topic": topic, "partition": number, "state": state, "replicas": found})
    say("\n".join(each.line for each in moves))
    is_moving = bool(under_way) or any(each.state == "moving" for each in moves)
    if not is_moving and "preserve-throttles" not in given:
        await clear_throttles(admin, dict.fromkeys(each.topic for each in plan), say)
    if given.is_json:
        print(json.dumps({"partitions": states, "log_dirs": [_as_data(each) for each in moves]}))


async def _cancel(admin: ReassignmentAdmin, given: Given) -> None:
    plan, directories = read_plan(given)
    say = _speaker(given)
    under_way = await admin.list_partition_reassignments(plan)
    if under_way:
        (await admin.alter_partition_reassignments(dict.fromkeys(under_way))).check()
        names = ",".join(map(str, sorted(under_way)))
        say(f"Successfully cancelled partition reassignment{_s(under_way)} for: {names}")
    else:
        say("None of the specified partition reassignments are active.")
    moves = await directory_moves(admin, directories)
    # A replica that is assigned to where it is stops moving elsewhere.
    back = {each.replica: each.current for each in moves if each.future and each.current}
    if back:
        (await admin.alter_replica_log_dirs(back)).check()
        say(f"Successfully cancelled log directory move{_s(back)} for: {_named(back)}")
    else:
        say("None of the specified partition moves are active.")
    if "preserve-throttles" not in given:
        await clear_throttles(admin, dict.fromkeys(each.topic for each in plan), say)
    if given.is_json:
        print(json.dumps({"partitions": sorted(under_way), "log_dirs": sorted(back)}))


async def _list(admin: ReassignmentAdmin, given: Given) -> None:
    found = await admin.list_partition_reassignments()
    if given.is_json:
        moves = [
            {
                "topic": each.topic,
                "partition": each.partition,
                "replicas": move.replicas,
                "adding": move.adding,
                "removing": move.removing,
            }
            for each, move in sorted(found.items())
        ]
        print(json.dumps(moves))
        return
    if not found:
        print("No partition reassignments found.")
        return
    print("Current partition reassignments:")
    for partition, move in sorted(found.items()):
        changes = f"replicas: {_listed(move.replicas)}."
        if move.adding:
            changes += f" adding: {_listed(move.adding)}."
        if move.removing:
            changes += f" removing: {_listed(move.removing)}."
        print(f"{partition}: {changes}")


async def _assignments(admin: ReassignmentAdmin, topics: Iterable[str]) -> Plan:
    described = await admin.describe_topics(list(topics))
    for name, error in described.errors.items():
        raise CommandFailed(f"Topic {name}: {error}")
    return {
        TopicPartition(topic.name, each.partition): each.replicas
        for topic in described.values()
        for each in topic.partitions
    }


def _speaker(given: Given) -> Callable[[str], None]:
    """Prints for people; programs get all at the end."""
    return (lambda _: None) if given.is_json else print


def _as_data(move: DirectoryMove) -> dict[str, object]:
    (topic, partition), broker = move.replica.partition, move.replica.broker
    return {
        "topic": topic,
        "partition": partition,
        "broker": broker,
        "state": move.state,
        "directory": move.current,
    }


def _named(replicas: Iterable[Replica]) -> str:
    return ",".join(f"{each.partition}-{each.broker}" for each in sorted(replicas))


def _s(items: Sized) -> str:
    return "s" if len(items) > 1 else ""


def _listed(brokers: Sequence[int] | None) -> str:
    return ",".join(map(str, brokers or ()))


_WORK: dict[str, Callable[[ReassignmentAdmin, Given], Awaitable[None]]] = {
    "generate": _generate,
    "execute": _execute,
    "verify": _verify,
    "cancel": _cancel,
    "list": _list,
}
