"""Topics: listed by name at once, described, created, changed and deleted."""

import asyncio
from collections.abc import Mapping

from moldau.client.admin.configs import ConfigResource
from moldau.client.admin.topics import BY_DEFAULT, NewTopic, TopicDescription
from moldau.client.offset_lookup import EARLIEST, LATEST
from moldau.console.access import Role
from moldau.console.api.configs import with_defaults
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint, described
from moldau.model import TopicPartition
from moldau.web.errors import WebError

_TOPIC = f"{PREFIX}/topics/{{topic}}"


async def topics(call: ApiCall) -> object:
    """All topics from one request for metadata; numbers come by the stream of events."""
    admin = await call.admin()
    found = await admin.describe_all_topics()
    rows = [_row(each) for each in found.succeeded.values()]
    rows += [{"name": name, **described(error)} for name, error in found.errors.items()]
    return {"topics": sorted(rows, key=lambda row: str(row["name"]))}


def _row(topic: TopicDescription) -> dict[str, object]:
    return {
        "name": topic.name,
        "partitions": len(topic.partitions),
        "replicas": max((len(each.replicas) for each in topic.partitions), default=0),
        "is_internal": topic.is_internal,
        "offline": sum(each.leader < 0 for each in topic.partitions),
        "behind": sum(len(each.isr) < len(each.replicas) for each in topic.partitions),
    }


async def topic(call: ApiCall) -> object:
    """One topic with the offsets of its partitions, as far as their leaders answer."""
    admin = await call.admin()
    name = call.path("topic")
    found = (await admin.describe_topics(name))[name]
    led = [TopicPartition(name, each.partition) for each in found.partitions if each.leader >= 0]
    first, last = await asyncio.gather(  # a broker that says nothing is waited for once
        admin.list_offsets(dict.fromkeys(led, EARLIEST)),
        admin.list_offsets(dict.fromkeys(led, LATEST)),
    )
    return {
        **_row(found),
        "id": found.topic_id,
        "partitions": [
            {
                "partition": each.partition,
                "leader": each.leader,
                "replicas": each.replicas,
                "isr": each.isr,
                "offline": each.offline_replicas,
                **_ends(TopicPartition(name, each.partition), first.succeeded, last.succeeded),
            }
            for each in found.partitions
        ],
    }


def _ends(
    partition: TopicPartition,
    first: Mapping[TopicPartition, tuple[int, int]],
    last: Mapping[TopicPartition, tuple[int, int]],
) -> dict[str, object]:
    if partition not in first or partition not in last:
        return {"start": None, "end": None}
    return {"start": first[partition][0], "end": last[partition][0]}


async def configs(call: ApiCall) -> object:
    """The settings of a topic, with defaults and documentation."""
    admin = await call.admin()
    resource = ConfigResource.topic(call.path("topic"))
    found = await admin.describe_configs(
        [resource], include_synonyms=True, include_documentation=True
    )
    return {"configs": await with_defaults(admin, found[resource])}


async def consumers(call: ApiCall) -> object:
    """The groups that have committed offsets of a topic."""
    admin = await call.admin()
    name = call.path("topic")
    listed = await admin.list_groups_by_broker()
    groups = [each.group_id for some in listed.succeeded.values() for each in some]
    found = await admin.list_group_offsets(groups)
    offsets = found.succeeded
    return {
        "is_partial": bool(listed.errors or found.errors),
        "groups": [
            {"group": group, "partitions": sum(each.topic == name for each in committed)}
            for group, committed in offsets.items()
            if any(each.topic == name for each in committed)
        ],
    }


async def create(call: ApiCall) -> object:
    """Create a topic; with `validate_only` say what would happen."""
    sent = await call.body()
    name = sent.get("name")
    if not isinstance(name, str) or not name:
        raise WebError(400, "name: a topic needs a name")
    new = NewTopic(
        name,
        _whole(sent, "partitions"),
        _whole(sent, "replication_factor"),
        configs=changes_of(sent),
    )
    admin = await call.admin()
    created = await admin.create_topics([new], validate_only=bool(sent.get("validate_only")))
    found = created[name]
    return {
        "name": found.name,
        "partitions": found.partitions,
        "replication_factor": found.replication_factor,
    }


async def change_configs(call: ApiCall) -> object:
    """Change single settings; null takes one back to its default."""
    sent = await call.body()
    resource = ConfigResource.topic(call.path("topic"))
    admin = await call.admin()
    changed = await admin.incremental_alter_configs(
        {resource: changes_of(sent)}, validate_only=bool(sent.get("validate_only"))
    )
    changed.check()
    return {"changed": sorted(changes_of(sent))}


async def add_partitions(call: ApiCall) -> object:
    """Let a topic have more partitions."""
    sent = await call.body()
    name, total = call.path("topic"), _whole(sent, "total")
    if total < 1:
        raise WebError(400, "total: how many partitions the topic shall have")
    (await (await call.admin()).create_partitions({name: total})).check()
    return {"partitions": total}


async def delete(call: ApiCall) -> object:
    """Delete a topic; its name is to be sent again, so that none is deleted by a slip."""
    sent = await call.body()
    name = call.path("topic")
    if sent.get("confirm") != name:
        raise WebError(400, f"confirm: send the name {name} to delete the topic")
    (await (await call.admin()).delete_topics(name)).check()
    return {"deleted": name}


def changes_of(sent: Mapping[str, object]) -> dict[str, str | None]:
    """The settings in a body: texts, or null."""
    configs = sent.get("configs") or {}
    if not isinstance(configs, dict):
        raise WebError(400, "configs: an object of settings")
    for name, value in configs.items():
        if value is not None and not isinstance(value, str):
            raise WebError(400, f"configs: {name} is neither a text nor null")
    return configs


def _whole(sent: Mapping[str, object], name: str) -> int:
    found = sent.get(name)
    if found is None:
        return BY_DEFAULT
    if not isinstance(found, int) or isinstance(found, bool):
        raise WebError(400, f"{name}: a whole number")
    return found


_SENT_CONFIGS = {"configs": "settings by name; null for the default"}
ENDPOINTS = (
    ApiEndpoint("GET", f"{PREFIX}/topics", Role.VIEWER, "All topics", topics),
    ApiEndpoint(
        "POST",
        f"{PREFIX}/topics",
        Role.ADMIN,
        "Create a topic",
        create,
        body={
            "name": "the name",
            "partitions": "how many; the brokers' default if left out",
            "replication_factor": "how many; the brokers' default if left out",
            "validate_only": "true: say what would happen",
            **_SENT_CONFIGS,
        },
    ),
    ApiEndpoint("GET", _TOPIC, Role.VIEWER, "A topic and its partitions", topic),
    ApiEndpoint(
        "DELETE", _TOPIC, Role.ADMIN, "Delete a topic", delete, body={"confirm": "its name again"}
    ),
    ApiEndpoint("GET", f"{_TOPIC}/configs", Role.VIEWER, "The settings of a topic", configs),
    ApiEndpoint(
        "PATCH",
        f"{_TOPIC}/configs",
        Role.ADMIN,
        "Change settings of a topic",
        change_configs,
        body={**_SENT_CONFIGS, "validate_only": "true: only check"},
    ),
    ApiEndpoint("GET", f"{_TOPIC}/consumers", Role.VIEWER, "The groups of a topic", consumers),
    ApiEndpoint(
        "POST",
        f"{_TOPIC}/partitions",
        Role.ADMIN,
        "Add partitions",
        add_partitions,
        body={"total": "how many the topic shall have"},
    ),
)
