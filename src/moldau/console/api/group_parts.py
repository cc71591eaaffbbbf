"""Parts of a group taken away: a member that hangs, the offsets of a topic it reads no more."""

from moldau.client.admin.groups import LeavingMember
from moldau.console.access import Role
from moldau.console.bodies import confirm, text_of
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint
from moldau.web.errors import WebError

_GROUP = f"{PREFIX}/groups/{{group}}"


async def remove_member(call: ApiCall) -> object:
    """Send a member away; a client that lives joins again, with a member id of its own."""
    sent = await call.body()
    group, member = call.path("group"), text_of(sent, "member")
    admin = await call.admin()
    found = (await admin.describe_groups(group))[group]
    known = [each for each in found.members if each.member_id == member]
    if not known:
        raise WebError(404, f"{group} has no member {member}")
    instance = known[0].instance_id
    leaving = LeavingMember("" if instance else member, instance)
    (await admin.remove_group_members(group, [leaving])).check()
    return {"removed": member}


async def forget_offsets(call: ApiCall) -> object:
    """Forget how far a group is in a topic; refused while its members read that."""
    sent = await call.body()
    group, topic = call.path("group"), text_of(sent, "topic")
    confirm(sent, topic, "forget its offsets")
    admin = await call.admin()
    committed = (await admin.list_group_offsets(group))[group]
    partitions = [each for each in committed if each.topic == topic]
    if not partitions:
        raise WebError(404, f"{group} has no offsets of {topic}")
    (await admin.delete_group_offsets(group, partitions)).check()
    return {"forgotten": len(partitions)}


ENDPOINTS = (
    ApiEndpoint(
        "DELETE",
        f"{_GROUP}/members",
        Role.OPERATOR,
        "Send a member away",
        remove_member,
        body={"member": "its member id"},
    ),
    ApiEndpoint(
        "DELETE",
        f"{_GROUP}/offsets",
        Role.OPERATOR,
        "Forget the offsets of a topic",
        forget_offsets,
        body={"topic": "the topic", "confirm": "its name again"},
    ),
)
