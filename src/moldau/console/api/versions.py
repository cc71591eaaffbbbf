"""What brokers are like and speak, and the features that their cluster has agreed on."""

import asyncio
from typing import TYPE_CHECKING

from moldau.client.admin.configs import ConfigResource
from moldau.console.access import Role
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint, described
from moldau.console.releases import metadata_version, release_of
from moldau.errors import KafkaError

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin
    from moldau.client.admin.description import Features

_METADATA_VERSION = "metadata.version"
_PROTOCOL = "inter.broker.protocol.version"


async def versions(call: ApiCall) -> object:
    """The release that each broker is like, its protocol among brokers, and features."""
    admin = await call.admin()
    brokers = sorted(each.node_id for each in (await admin.describe_cluster()).brokers)
    spoken, features, protocols = await asyncio.gather(
        admin.describe_api_versions(brokers), admin.describe_features(), _protocols(admin, brokers)
    )
    rows: list[dict[str, object]] = []
    for broker in brokers:
        row: dict[str, object] = {"id": broker, "protocol": None}
        try:
            row["release"] = release_of(spoken[broker])
        except KafkaError as error:
            row |= described(error)
        if _METADATA_VERSION not in features.finalized:
            row["protocol"] = protocols.get(broker)
        rows.append(row)
    return {"brokers": rows, "features": feature_rows(features)}


async def _protocols(admin: "Admin", brokers: list[int]) -> dict[int, str | None]:
    """The setting of those that say it: clusters without ZooKeeper have a feature instead."""
    resources = {ConfigResource.broker(each): [_PROTOCOL] for each in brokers}
    found = (await admin.describe_configs(resources)).succeeded
    return {
        int(resource.name): entries[_PROTOCOL].value
        for resource, entries in found.items()
        if _PROTOCOL in entries
    }


def feature_rows(features: "Features") -> list[dict[str, object]]:
    """Each feature with its levels, lowest and highest; metadata.version by its names."""
    return [
        {
            "name": name,
            "finalized": _levels(name, features.finalized.get(name)),
            "supported": _levels(name, features.supported.get(name)),
        }
        for name in sorted(features.finalized.keys() | features.supported.keys())
    ]


def _levels(name: str, levels: tuple[int, int] | None) -> list[str] | None:
    if levels is None:
        return None
    return [metadata_version(each) if name == _METADATA_VERSION else str(each) for each in levels]


ENDPOINTS = (
    ApiEndpoint(
        "GET",
        f"{PREFIX}/versions",
        Role.VIEWER,
        "The release that each broker is like, and features",
        versions,
    ),
)
