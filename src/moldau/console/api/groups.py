"""Groups: listed by name at once, described with their lag, reset by a plan, deleted."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from moldau.client.admin.groups import GroupDescription
from moldau.console.access import Role
from moldau.console.api.plans import ResetPlan, read_plan
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint, answered, silent
from moldau.console.lag import GroupLag, read_lag
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin

_GROUP = f"{PREFIX}/groups/{{group}}"
SHARE = "share"
_SHARE_VERSION = "share.version"
_IDLE = ("Empty", "Dead")


async def groups(call: ApiCall) -> object:
    """All groups as brokers list them; their lag comes by the stream of events."""
    admin = await call.admin()
    found, is_on = await asyncio.gather(admin.list_groups_by_broker(), _is_share_on(admin))
    listed = {each.group_id: each for some in answered(found).values() for each in some}
    return {
        "has_share": is_on or any(each.group_type == SHARE for each in listed.values()),
        "groups": [
            {
                "group": each.group_id,
                "state": each.state,
                "type": each.group_type,
                "protocol": each.protocol_type,
                "coordinator": each.coordinator,
            }
            for _, each in sorted(listed.items())
        ],
        "missing": silent(found),
    }


async def group(call: ApiCall) -> object:
    """Members and lag of a group."""
    admin = await call.admin()
    group_id = call.path("group")
    found = (await admin.describe_groups(group_id))[group_id]
    lag = (await read_lag(admin, [group_id]))[group_id]
    if found.state == "Dead" and not lag.partitions:
        shared = await _share_group(admin, group_id)
        if shared is None:
            raise WebError(404, f"there is no group {group_id}")
        found = shared
    points = call.console.samplers[call.cluster.name].lags.history.get(group_id, ())
    return {
        "group": group_id,
        "type": found.group_type,
        "protocol": found.protocol_type,
        "state": found.state,
        "assignor": found.assignor,
        "coordinator": found.coordinator,
        "members": _members(found),
        **lag_of(lag),
        "history": list(points),
    }


async def _is_share_on(admin: "Admin") -> bool:
    try:
        _, level = (await admin.describe_features()).finalized.get(_SHARE_VERSION, (0, 0))
    except KafkaError:  # brokers before 0.10 have no features to ask for
        return False
    return level > 0


async def _share_group(admin: "Admin", group_id: str) -> GroupDescription | None:
    """A share group (KIP-932) as it is listed: nothing else is said of it to clients of 3.9.

    Brokers that cannot list one type alone have no groups of this one.
    """
    for some in (await admin.list_groups_by_broker(types=[SHARE])).succeeded.values():
        for each in some:
            if each.group_id == group_id:
                kind, protocol = each.group_type, each.protocol_type
                return GroupDescription(
                    group_id, kind, protocol, each.state, "", each.coordinator, [], None
                )
    return None


def _members(group: GroupDescription) -> list[dict[str, object]]:
    return [
        {
            "member": each.member_id,
            "instance": each.instance_id,
            "client": each.client_id,
            "host": each.host,
            "partitions": [f"{tp.topic}-{tp.partition}" for tp in sorted(each.assignment)],
        }
        for each in group.members
    ]


def lag_of(lag: GroupLag) -> dict[str, object]:
    """The lag of a group by partition, and in all."""
    return {
        "lag": lag.total,
        "is_partial": lag.is_partial,
        "error": lag.error,
        "offsets": [
            {
                "topic": partition.topic,
                "partition": partition.partition,
                "committed": each.committed,
                "end": each.end,
                "lag": each.lag,
            }
            for partition, each in lag.partitions.items()
        ],
    }


async def plan(call: ApiCall) -> object:
    """What a reset would do, partition by partition; nothing is changed."""
    wanted = read_plan(await call.body())
    admin = await call.admin()
    group_id = call.path("group")
    found = (await admin.describe_groups(group_id))[group_id]
    return {
        "state": found.state,
        "is_possible": found.state in _IDLE,
        "changes": await _changes(admin, group_id, wanted),
    }


async def _changes(admin: "Admin", group_id: str, wanted: ResetPlan) -> list[dict[str, object]]:
    committed = (await admin.list_group_offsets(group_id))[group_id]
    partitions = [each for each in committed if wanted.topic in (None, each.topic)]
    if wanted.topic is not None:
        described = (await admin.describe_topics(wanted.topic))[wanted.topic]
        partitions = [TopicPartition(wanted.topic, each.partition) for each in described.partitions]
    if not partitions:
        raise WebError(409, f"{group_id} has no offsets: name a topic")
    found = await wanted.offsets(admin, {each: committed.get(each) for each in partitions})
    return [
        {
            "topic": each.topic,
            "partition": each.partition,
            "old": committed[each].offset if each in committed else None,
            "new": found[each],
        }
        for each in sorted(partitions)
    ]


async def set_offsets(call: ApiCall) -> object:
    """Set the offsets that a plan has shown; refused while the group has members."""
    sent = await call.body()
    wanted = offsets_of(sent)
    admin = await call.admin()
    group_id = call.path("group")
    found = (await admin.describe_groups(group_id))[group_id]
    if found.state not in _IDLE:
        raise WebError(
            409, f"{group_id} is {found.state}: stop its {len(found.members)} members first"
        )
    (await admin.alter_group_offsets(group_id, wanted)).check()
    return {"changed": len(wanted)}


def offsets_of(sent: Mapping[str, object]) -> dict[TopicPartition, int]:
    """Offsets by partition as a body names them."""
    given = sent.get("offsets")
    if not isinstance(given, list) or not given:
        raise WebError(400, "offsets: a list of topic, partition and offset")
    try:
        found = {
            TopicPartition(str(each["topic"]), int(each["partition"])): int(each["offset"])
            for each in given
        }
    except (TypeError, KeyError, ValueError):
        raise WebError(400, "offsets: a list of topic, partition and offset") from None
    if any(offset < 0 for offset in found.values()):
        raise WebError(400, "offsets: none is less than 0")
    return found


async def delete(call: ApiCall) -> object:
    """Delete a group; its id is to be sent again."""
    sent = await call.body()
    group_id = call.path("group")
    if sent.get("confirm") != group_id:
        raise WebError(400, f"confirm: send the id {group_id} to delete the group")
    (await (await call.admin()).delete_groups(group_id)).check()
    return {"deleted": group_id}


ENDPOINTS = (
    ApiEndpoint("GET", f"{PREFIX}/groups", Role.VIEWER, "All groups", groups),
    ApiEndpoint("GET", _GROUP, Role.VIEWER, "A group, its members and its lag", group),
    ApiEndpoint(
        "POST",
        f"{_GROUP}/plan",
        Role.VIEWER,
        "What a reset of offsets would do",
        plan,
        body={
            "to": "earliest, latest, offset, time, shift or duration",
            "value": "the offset, the number of records, or the time with its zone",
            "topic": "one topic; all that the group has offsets of if left out",
        },
    ),
    ApiEndpoint(
        "POST",
        f"{_GROUP}/offsets",
        Role.OPERATOR,
        "Set offsets of a group without members",
        set_offsets,
        body={"offsets": "a list of topic, partition and offset"},
    ),
    ApiEndpoint(
        "DELETE", _GROUP, Role.ADMIN, "Delete a group", delete, body={"confirm": "its id again"}
    ),
)
