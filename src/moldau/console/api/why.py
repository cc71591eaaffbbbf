"""Why something ails: facts are gathered here, and judged in `console/why`."""

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

from moldau.client.admin.configs import ConfigResource
from moldau.client.admin.throttles import RATES
from moldau.client.offset_lookup import LATEST
from moldau.console.access import Role
from moldau.console.api.connect import connector
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint
from moldau.console.lag import GroupLag, read_lag
from moldau.console.why.connectors import why_connector
from moldau.console.why.diagnosis import Diagnosis
from moldau.console.why.groups import GroupFacts, why_group
from moldau.console.why.partitions import PartitionFacts, missing, why_partitions
from moldau.console.why.produce import ERRORS, ProduceFacts, why_produce
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.security.acls import AclFilter, PatternType, ResourceType
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from moldau.client.admin.admin import Admin
    from moldau.client.admin.groups import GroupDescription
    from moldau.client.admin.topics import TopicDescription
    from moldau.security.acls import Acl

_WHY = f"{PREFIX}/why"
_MIN_ISR = "min.insync.replicas"
_PRODUCE_CONFIGS = (_MIN_ISR, "max.message.bytes", "cleanup.policy", "compression.type")


def _shown(diagnosis: Diagnosis) -> dict[str, object]:
    causes = sorted(diagnosis.causes, key=lambda each: not each.is_certain)
    return {"known": diagnosis.known, "causes": [asdict(each) for each in causes]}


def _servers(call: ApiCall) -> str:
    return str(call.cluster.settings.get("bootstrap.servers", ""))


async def partitions(call: ApiCall) -> object:
    """Why partitions lack replicas or leaders."""
    admin = await call.admin()
    cluster = await admin.describe_cluster()
    topics = (await admin.describe_all_topics()).succeeded.values()
    brokers = [each.node_id for each in cluster.brokers]
    state = PartitionFacts(
        _servers(call),
        brokers,
        await _moving(admin),
        await _throttles(admin, brokers),
        await _minimum(admin, topics),
    )
    return _shown(why_partitions(topics, state))


async def _moving(admin: "Admin") -> list[TopicPartition]:
    try:
        return list(await admin.list_partition_reassignments())
    except (KafkaError, TimeoutError):
        return []  # no controller, or no right: the rest is judged without


async def _throttles(admin: "Admin", brokers: "Iterable[int]") -> "Mapping[str, object]":
    resources = {ConfigResource.broker(each): list(RATES) for each in brokers}
    found = (await admin.describe_configs(resources)).succeeded
    return {
        resource.name: True
        for resource, configs in found.items()
        if any(name in configs and not configs[name].is_default for name in RATES)
    }


async def _minimum(admin: "Admin", topics: "Iterable[TopicDescription]") -> dict[str, int]:
    ailing = {
        ConfigResource.topic(topic.name): [_MIN_ISR]
        for topic in topics
        if any(missing(each) for each in topic.partitions)
    }
    found = (await admin.describe_configs(ailing)).succeeded if ailing else {}
    texts = {resource.name: configs[_MIN_ISR].value or "" for resource, configs in found.items()}
    return {name: int(text) for name, text in texts.items() if text.isdecimal()}


async def group(call: ApiCall) -> object:
    """Why a group is behind."""
    admin = await call.admin()
    group_id = call.path("group")
    found = (await admin.describe_groups(group_id))[group_id]
    lag = (await read_lag(admin, [group_id]))[group_id]
    if found.state == "Dead" and not lag.partitions:
        raise WebError(404, f"there is no group {group_id}")
    points = call.console.samplers[call.cluster.name].lags.history.get(group_id, ())
    state = GroupFacts(
        *(found, lag, _servers(call), list(points)[-30:]),
        held=await _held(admin, lag),
        quotas=await _slowed(admin, found),
    )
    return _shown(why_group(state))


async def _held(admin: "Admin", lag: GroupLag) -> dict[TopicPartition, int]:
    """Partitions whose committed records end before their last ones, and where."""
    stable = {each: found.end for each, found in lag.partitions.items() if found.end is not None}
    ends = (await admin.list_offsets(dict.fromkeys(stable, LATEST))).succeeded
    again = await admin.list_offsets(dict.fromkeys(stable, LATEST), committed_only=True)
    # Asked in this order, ends that are further than what is stable afterwards are held back.
    return {
        each: found.offset
        for each, found in again.succeeded.items()
        if each in ends and ends[each].offset > found.offset
    }


async def _slowed(admin: "Admin", group: "GroupDescription") -> list[str]:
    try:
        quotas = await admin.describe_client_quotas()
    except (KafkaError, TimeoutError):
        return []
    limited = {
        dict(entity).get("client-id", "")
        for entity, values in quotas.items()
        if "consumer_byte_rate" in values
    }
    clients = {each.client_id for each in group.members}
    return sorted(clients if None in limited else clients & limited)


async def a_connector(call: ApiCall) -> object:
    """Why a connector has failed."""
    found = await connector(call)
    assert isinstance(found, dict), "one connector"
    return _shown(why_connector(found, call.path("worker")))


async def produce(call: ApiCall) -> object:
    """Why a topic rejects what a producer sends."""
    name, error = call.text("topic"), call.text("error")
    if not name:
        return {**_shown(Diagnosis([], [])), "errors": ERRORS}
    if error and error not in ERRORS:
        raise WebError(400, f"error: one of {', '.join(ERRORS)}")
    admin = await call.admin()
    described = await admin.describe_topics(name)
    failure = described.errors.get(name)
    if failure is not None and failure.code not in (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    ):
        raise failure
    topic = described.succeeded.get(name)
    configs: dict[str, str | None] = {}
    acls: list[Acl] | None = None
    if topic is not None:
        configs, acls = await asyncio.gather(_configs(admin, name), _acls(call, admin, name))
    state = ProduceFacts(
        *(name, _servers(call), error, call.text("principal")),
        topic=topic,
        configs=configs,
        acls=acls,
    )
    return {**_shown(why_produce(state)), "errors": ERRORS}


async def _configs(admin: "Admin", name: str) -> dict[str, str | None]:
    resource = ConfigResource.topic(name)
    found = (await admin.describe_configs({resource: list(_PRODUCE_CONFIGS)})).succeeded
    return {key: each.value for key, each in found.get(resource, {}).items()}


async def _acls(call: ApiCall, admin: "Admin", name: str) -> "list[Acl] | None":
    """Rules about the topic, for those who may see rules."""
    if call.actor.role < Role.OPERATOR:
        return None
    wanted = AclFilter(
        resource_type=ResourceType.TOPIC, resource_name=name, pattern_type=PatternType.MATCH
    )
    try:
        return await admin.describe_acls(wanted)
    except KafkaError:
        return None


ENDPOINTS = (
    ApiEndpoint(
        "GET", f"{_WHY}/partitions", Role.VIEWER, "Why partitions lack replicas", partitions
    ),
    ApiEndpoint("GET", f"{_WHY}/groups/{{group}}", Role.VIEWER, "Why a group is behind", group),
    ApiEndpoint(
        "GET",
        f"{_WHY}/connect/{{worker}}/{{connector}}",
        Role.VIEWER,
        "Why a connector has failed",
        a_connector,
    ),
    ApiEndpoint(
        "GET",
        f"{_WHY}/produce",
        Role.VIEWER,
        "Why a topic rejects records",
        produce,
        query={
            "topic": "the topic",
            "error": "what the producer was answered",
            "principal": "User:anna; rules are looked at for operators",
        },
    ),
)
