"""Moves of replicas: how far they are, begun, slowed down and cancelled; and elections."""

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from moldau.client.admin.configs import ConfigResource
from moldau.client.admin.log_dirs import Replica
from moldau.client.admin.reassignments import ElectionType, Reassignment
from moldau.client.admin.throttles import RATES, clear_throttles, set_throttles
from moldau.console.access import Role
from moldau.console.bodies import Sent, choice_of, confirm, objects_of, partition_of, whole_of
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin

_log = logging.getLogger(__name__)

MOVES = f"{PREFIX}/reassignments"
_ELECTIONS = f"{PREFIX}/elections"


async def reassignments(call: ApiCall) -> object:
    """Moves that are under way with the bytes that are there, and the throttle of each broker."""
    admin = await call.admin()
    moves = await admin.list_partition_reassignments()
    sizes = await stored_sizes(admin) if moves else {}
    return {
        "moves": [
            {"topic": each.topic, "partition": each.partition, **progress(each, move, sizes)}
            for each, move in sorted(moves.items())
        ],
        "throttles": await _throttles(admin),
    }


async def stored_sizes(admin: "Admin") -> dict[Replica, int]:
    """The bytes of replicas, as far as brokers answer."""
    return {
        Replica(broker, partition): stored.size_bytes
        for broker, directories in (await admin.describe_log_dirs()).succeeded.items()
        for directory in directories.values()
        for partition, stored in directory.replicas.items()
        if not stored.is_future
    }


def progress(
    partition: TopicPartition, move: Reassignment, sizes: Mapping[Replica, int]
) -> dict[str, object]:
    """How many bytes the new replicas have of those that the largest old one has."""
    staying = [each for each in move.replicas if each not in move.adding]
    full = max((sizes.get(Replica(each, partition), 0) for each in staying), default=0)
    there = [min(sizes.get(Replica(each, partition), 0), full) for each in move.adding]
    return {
        "replicas": move.replicas,
        "adding": move.adding,
        "removing": move.removing,
        "bytes": sum(there),
        "bytes_in_all": full * len(there),
    }


async def _throttles(admin: "Admin") -> dict[str, dict[str, str]]:
    brokers = [each.node_id for each in (await admin.describe_cluster()).brokers]
    resources = {ConfigResource.broker(each): list(RATES) for each in sorted(brokers)}
    found = (await admin.describe_configs(resources)).succeeded
    rates = {
        resource.name: {
            name: entry.value
            for name, entry in configs.items()
            if name in RATES and entry.value is not None and not entry.is_default
        }
        for resource, configs in found.items()
    }
    return {broker: each for broker, each in rates.items() if each}


def moves_of(sent: Sent) -> dict[TopicPartition, list[int]]:
    """The brokers that a body wants partitions on, the first as their leader."""
    found: dict[TopicPartition, list[int]] = {}
    for each in objects_of(sent, "moves"):
        replicas = each.get("replicas")
        if (
            not isinstance(replicas, list)
            or not replicas
            or not all(type(broker) is int and broker >= 0 for broker in replicas)
            or len(set(replicas)) < len(replicas)
        ):
            raise WebError(400, "replicas: different numbers of brokers, the first to lead")
        found[partition_of(each)] = replicas
    return found


async def plan(call: ApiCall) -> object:
    """What a move would copy and remove; nothing is changed."""
    wanted = moves_of(await call.body())
    admin = await call.admin()
    current = await _replicas(admin, wanted)
    brokers = {each.node_id for each in (await admin.describe_cluster()).brokers}
    sizes = await stored_sizes(admin)
    rows = []
    for partition, replicas in wanted.items():
        unknown = [each for each in replicas if each not in brokers]
        if unknown:
            raise WebError(409, f"there is no broker {unknown[0]}")
        rows.append(move_row(partition, current[partition], replicas, sizes))
    return {"moves": rows}


def move_row(
    partition: TopicPartition,
    old: Sequence[int],
    new: Sequence[int],
    sizes: Mapping[Replica, int],
) -> dict[str, object]:
    """One partition of a plan, and the bytes that would be copied for it."""
    size = max((sizes.get(Replica(each, partition), 0) for each in old), default=0)
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "old": old,
        "new": new,
        "copied_bytes": size * len(_without(new, old)),
    }


async def _replicas(
    admin: "Admin", wanted: Mapping[TopicPartition, object]
) -> dict[TopicPartition, list[int]]:
    topics = await admin.describe_topics(dict.fromkeys(each.topic for each in wanted))
    found = {
        TopicPartition(name, each.partition): each.replicas
        for name, topic in topics.items()
        for each in topic.partitions
    }
    missing = [each for each in wanted if each not in found]
    if missing:
        raise WebError(404, f"there is no partition {missing[0]}")
    return {each: found[each] for each in wanted}


async def begin(call: ApiCall) -> object:
    """Begin to move partitions to the brokers that a plan has shown, at most so fast."""
    sent = await call.body()
    wanted = moves_of(sent)
    rate = whole_of(sent, "bytes_per_s", 0)
    admin = await call.admin()
    if rate:
        await set_throttles(admin, await _replicas(admin, wanted), wanted, rate)
    (await admin.alter_partition_reassignments(wanted)).check()
    return {"begun": len(wanted)}


async def cancel(call: ApiCall) -> object:
    """Stop moves, and go back to the brokers that had the partitions."""
    wanted = [partition_of(each) for each in objects_of(await call.body(), "partitions")]
    admin = await call.admin()
    (await admin.alter_partition_reassignments(dict.fromkeys(wanted))).check()
    return {"cancelled": len(wanted)}


async def throttle(call: ApiCall) -> object:
    """Let moves that are under way copy at most so many bytes per second and broker."""
    rate = whole_of(await call.body(), "bytes_per_s", low=1)
    admin = await call.admin()
    moves = await admin.list_partition_reassignments()
    if not moves:
        raise WebError(409, "no partition moves: there is nothing to slow down")
    before = {each: _without(move.replicas, move.adding) for each, move in moves.items()}
    after = {each: _without(move.replicas, move.removing) for each, move in moves.items()}
    await set_throttles(admin, before, after, rate)
    return {"bytes_per_s": rate}


def _without(replicas: Sequence[int], others: Sequence[int]) -> list[int]:
    return [each for each in replicas if each not in others]


async def unthrottle(call: ApiCall) -> object:
    """Take the throttles of all brokers away, and of all topics."""
    admin = await call.admin()
    await clear_throttles(admin, await admin.list_topics(), _log.info)
    return {"cleared": True}


async def elections(call: ApiCall) -> object:
    """Partitions that are not led by the first of their replicas, or by none."""
    admin = await call.admin()
    topics = await admin.describe_all_topics()
    return {
        "partitions": [
            {
                "topic": topic.name,
                "partition": each.partition,
                "leader": each.leader if each.leader >= 0 else None,
                "preferred": each.replicas[0],
                "replicas": each.replicas,
                "isr": each.isr,
                "is_possible": each.replicas[0] in each.isr,
            }
            for topic in topics.succeeded.values()
            for each in topic.partitions
            if each.replicas and each.leader != each.replicas[0]
        ]
    }


async def elect(call: ApiCall) -> object:
    """Elect leaders; an unclean election may lose records, and is to be confirmed."""
    sent = await call.body()
    kind = ElectionType[choice_of(sent, "type", ("preferred", "unclean"), "preferred").upper()]
    wanted = [partition_of(each) for each in objects_of(sent, "partitions")]
    if kind is ElectionType.UNCLEAN:
        if len(wanted) > 1:
            raise WebError(400, "partitions: an unclean election is of one partition")
        confirm(sent, str(wanted[0]), "elect a leader that may lack records")
    found = await (await call.admin()).elect_leaders(wanted, election_type=kind)
    failed = {
        partition: error
        for partition, error in found.errors.items()
        if error.code is not ErrorCode.ELECTION_NOT_NEEDED
    }
    return {
        "elected": len(found.succeeded),
        "failed": [
            {"topic": each.topic, "partition": each.partition, "error": error.code.name}
            for each, error in failed.items()
        ],
    }


_MOVED = {"moves": "objects with topic, partition and replicas: brokers, the first to lead"}
_BEGUN = {**_MOVED, "bytes_per_s": "for each broker, as a throttle set before; none if left out"}
_NAMED = {"partitions": "objects with topic and partition"}
ENDPOINTS = (
    ApiEndpoint("GET", MOVES, Role.VIEWER, "Moves of replicas under way", reassignments),
    ApiEndpoint("POST", f"{MOVES}/plan", Role.VIEWER, "What a move would copy", plan, body=_MOVED),
    ApiEndpoint("POST", MOVES, Role.ADMIN, "Begin to move partitions", begin, body=_BEGUN),
    ApiEndpoint("POST", f"{MOVES}/cancel", Role.ADMIN, "Cancel moves", cancel, body=_NAMED),
    ApiEndpoint(
        "PUT",
        f"{MOVES}/throttle",
        Role.ADMIN,
        "Slow moves down",
        throttle,
        body={"bytes_per_s": "for each broker"},
    ),
    ApiEndpoint(
        "DELETE", f"{MOVES}/throttle", Role.ADMIN, "Take throttles of moves away", unthrottle
    ),
    ApiEndpoint("GET", _ELECTIONS, Role.VIEWER, "Partitions led by another replica", elections),
    ApiEndpoint(
        "POST",
        _ELECTIONS,
        Role.ADMIN,
        "Elect leaders",
        elect,
        body={
            **_NAMED,
            "type": "preferred, or unclean: a replica that may lack records",
            "confirm": "for an unclean one: topic-partition",
        },
    ),
)
