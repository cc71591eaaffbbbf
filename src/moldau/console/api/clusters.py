"""The console itself, a cluster as a whole, and its brokers."""

import asyncio
from collections.abc import Collection
from dataclasses import asdict
from typing import TYPE_CHECKING

import moldau
from moldau.client.admin.configs import ConfigResource
from moldau.client.admin.examination import examine
from moldau.console.access import Role
from moldau.console.api.configs import entries
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint, described
from moldau.errors import KafkaError
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin
    from moldau.client.admin.topics import TopicDescription

_SHOWN_MAX = 20


async def console(call: ApiCall) -> object:
    """Which clusters there are, and who asks."""
    return {
        "version": moldau.__version__,
        "clusters": list(call.console.clusters),
        "servers": {
            name: str(each.settings.get("bootstrap.servers", ""))
            for name, each in call.console.clusters.items()
        },
        "actor": {
            "name": call.actor.name,
            "role": call.actor.role.name.lower(),
            "beside": call.actor.role_beside.name.lower(),
            "grants": _grants(call),
        },
        "read_only": call.console.rights.is_read_only,
        "registry": call.console.registered is not None,
        "connect": list(call.console.connect),
        "streams": list(call.console.streams),
    }


def _grants(call: ApiCall) -> list[dict[str, object]]:
    grants = call.actor.grants
    return [{"topics": list(topics), "role": role.name.lower()} for topics, role in grants]


async def me(call: ApiCall) -> object:
    """Who asks: the groups and claims that came with the login, and what they give."""
    user = getattr(call.request.state, "user", None)
    sessions = call.console.sessions
    session = None if sessions is None else sessions.of(call.request)
    return {
        "name": call.actor.name,
        "role": call.actor.role.name.lower(),
        "beside": call.actor.role_beside.name.lower(),
        "is_ruled_by_cluster": call.actor.beside is not None,
        "grants": _grants(call),
        "groups": [] if user is None else [each for each in user.roles if ":" in each],
        "claims": None if session is None else session.claims,
        "is_read_only": call.console.rights.is_read_only,
    }


async def overview(call: ApiCall) -> object:
    """Brokers, and partitions that are not as they should be, those first."""
    admin = await call.admin()
    cluster = await admin.describe_cluster()
    topics = await admin.describe_all_topics()
    found = topics.succeeded.values()
    sampler = call.console.samplers[call.cluster.name]
    return {
        "cluster_id": cluster.cluster_id,
        "controller": cluster.controller_id,
        "brokers": [
            {"id": each.node_id, "host": each.host, "port": each.port, "rack": each.rack}
            for each in sorted(cluster.brokers, key=lambda each: each.node_id)
        ],
        "topics": len(topics),
        "unauthorized": len(topics.errors),
        "partitions": sum(len(each.partitions) for each in found),
        "troubles": troubles(found),
        "history": list(sampler.history),
        "bytes_history": list(sampler.sizes.history),
    }


async def findings(call: ApiCall) -> object:
    """What `moldau doctor` says."""
    servers = str(call.cluster.settings.get("bootstrap.servers", ""))
    return {"findings": [asdict(each) for each in await examine(await call.admin(), servers)]}


def troubles(topics: "Collection[TopicDescription]") -> list[dict[str, object]]:
    """Partitions without a leader or with replicas that are behind."""
    every = [(topic.name, each) for topic in topics for each in topic.partitions]
    kinds = {
        "offline": [f"{name}-{each.partition}" for name, each in every if each.leader < 0],
        "under-replicated": [
            f"{name}-{each.partition}"
            for name, each in every
            if each.leader >= 0 and len(each.isr) < len(each.replicas)
        ],
    }
    return [
        {"kind": kind, "count": len(names), "partitions": names[:_SHOWN_MAX]}
        for kind, names in kinds.items()
        if names
    ]


async def brokers(call: ApiCall) -> object:
    """Each broker with its directories and the partitions that it leads."""
    admin = await call.admin()
    cluster = await admin.describe_cluster()
    topics, directories = await asyncio.gather(
        _topics(admin), admin.describe_log_dirs([each.node_id for each in cluster.brokers])
    )
    partitions = [each for topic in topics for each in topic.partitions]
    rows: list[dict[str, object]] = []
    for broker in sorted(cluster.brokers, key=lambda each: each.node_id):
        row: dict[str, object] = {
            "id": broker.node_id,
            "host": broker.host,
            "port": broker.port,
            "rack": broker.rack,
            "is_controller": broker.node_id == cluster.controller_id,
            "leads": sum(each.leader == broker.node_id for each in partitions),
            "replicas": sum(broker.node_id in each.replicas for each in partitions),
            "in_sync": sum(broker.node_id in each.isr for each in partitions),
        }
        try:
            row["directories"] = [
                {
                    "path": each.path,
                    "bytes": sum(replica.size_bytes for replica in each.replicas.values()),
                    "lag": sum(max(replica.offset_lag, 0) for replica in each.replicas.values()),
                    "total_bytes": each.total_bytes,
                    "usable_bytes": each.usable_bytes,
                    "error": each.error and each.error.code.name,
                }
                for each in directories[broker.node_id].values()
            ]
        except KafkaError as error:
            row |= described(error)
        rows.append(row)
    return {"brokers": rows}


async def _topics(admin: "Admin") -> "list[TopicDescription]":
    return list((await admin.describe_all_topics()).succeeded.values())


async def broker_configs(call: ApiCall) -> object:
    """The settings of one broker."""
    admin = await call.admin()
    broker = call.path("broker")
    if not broker.isdecimal():
        raise WebError(400, f"{broker} is no number of a broker")
    resource = ConfigResource.broker(int(broker))
    found = await admin.describe_configs(
        [resource], include_synonyms=True, include_documentation=True
    )
    return {"configs": entries(found[resource])}


ENDPOINTS = (
    ApiEndpoint("GET", "/api/console", Role.VIEWER, "The clusters, and who asks", console),
    ApiEndpoint("GET", "/api/me", Role.VIEWER, "Who asks, and as what", me),
    ApiEndpoint("GET", PREFIX, Role.VIEWER, "A cluster at a glance", overview),
    ApiEndpoint("GET", f"{PREFIX}/findings", Role.VIEWER, "What a client sees is judged", findings),
    ApiEndpoint("GET", f"{PREFIX}/brokers", Role.VIEWER, "Brokers and their directories", brokers),
    ApiEndpoint(
        "GET",
        f"{PREFIX}/brokers/{{broker}}/configs",
        Role.VIEWER,
        "The settings of a broker",
        broker_configs,
    ),
)
