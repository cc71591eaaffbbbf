"""A plan that spreads many partitions at once over brokers, as `moldau rebalance` does."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from moldau.client.admin.spreading import Load, Spreading, loads
from moldau.console.access import Role
from moldau.console.api.reassignments import MOVES, move_row, stored_sizes
from moldau.console.bodies import Sent
from moldau.console.endpoints import ApiCall, ApiEndpoint
from moldau.model import TopicPartition
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin

PARTITIONS_MAX = 1_000
"""So many are planned in seconds; the time grows with their square."""

Assignments = dict[TopicPartition, list[int]]


async def spread(call: ApiCall) -> object:
    """Where partitions of topics would be if brokers shared them evenly; nothing is changed."""
    sent = await call.body()
    topics, wanted = topics_of(sent), brokers_of(sent)
    admin = await call.admin()
    if await admin.list_partition_reassignments():
        raise WebError(409, "partitions are being moved: wait for that, or cancel it first")
    racks = {each.node_id: each.rack for each in (await admin.describe_cluster()).brokers}
    unknown = [each for each in wanted if each not in racks]
    if unknown:
        raise WebError(409, f"there is no broker {unknown[0]}")
    current = await _assignments(admin, topics)
    stored = await stored_sizes(admin)
    sizes: dict[TopicPartition, int] = {}
    for (_, partition), size in stored.items():
        sizes[partition] = max(sizes.get(partition, 0), size)
    spreading = Spreading(wanted or sorted(racks), racks, sizes)
    plan = await asyncio.to_thread(spreading.plan, current)
    before, after = (loads(each, sizes, sorted(racks)) for each in (current, {**current, **plan}))
    return {
        "brokers": load_rows(before, after),
        "moves": [move_row(each, current[each], new, stored) for each, new in sorted(plan.items())],
    }


def topics_of(sent: Sent) -> list[str]:
    """The topics that a body names; none stand for all."""
    found = sent.get("topics", [])
    if not isinstance(found, list) or not all(isinstance(each, str) and each for each in found):
        raise WebError(400, "topics: a list of names")
    return found


def brokers_of(sent: Sent) -> list[int]:
    """The brokers that are to have replicas; none stand for all."""
    found = sent.get("brokers", [])
    if not isinstance(found, list) or not all(type(each) is int and each >= 0 for each in found):
        raise WebError(400, "brokers: a list of numbers")
    return sorted(set(found))


async def _assignments(admin: "Admin", topics: Sequence[str]) -> Assignments:
    described = await (admin.describe_topics(topics) if topics else admin.describe_all_topics())
    if topics:
        described.check()
    found = {
        TopicPartition(topic.name, each.partition): list(each.replicas)
        for topic in described.succeeded.values()
        for each in topic.partitions
    }
    refuse_too_many(found)
    return found


def refuse_too_many(partitions: Collection[TopicPartition]) -> None:
    """More would be planned for longer than a page waits."""
    if len(partitions) > PARTITIONS_MAX:
        raise WebError(
            409,
            f"{len(partitions):,} partitions: name topics that have {PARTITIONS_MAX:,} at most,"
            " or run moldau rebalance",
        )


def load_rows(before: Mapping[int, Load], after: Mapping[int, Load]) -> list[dict[str, object]]:
    """What each broker has of these partitions, now and then."""
    return [
        {
            "id": broker,
            "replicas": [now.replicas, after[broker].replicas],
            "leads": [now.leaders, after[broker].leaders],
            "bytes": [now.size_bytes, after[broker].size_bytes],
        }
        for broker, now in before.items()
    ]


ENDPOINTS = (
    ApiEndpoint(
        "POST",
        f"{MOVES}/spread",
        Role.ADMIN,
        "Where partitions would be if brokers shared them evenly",
        spread,
        body={
            "topics": f"names, of {PARTITIONS_MAX:,} partitions at most; all if left out",
            "brokers": "those that are to have replicas; all if left out",
        },
    ),
)
