"""The cluster as a whole: its brokers, what they speak, and its features."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

import moldau
from moldau.client.admin.area import AdminArea
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.places import AtController
from moldau.client.admin.routing import Answers, failure, outcome
from moldau.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from moldau.protocol.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from moldau.protocol.messages.metadata import MetadataRequest, MetadataResponse
from moldau.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from moldau.security.acls import Operation, operations_of

_DESCRIBE_CLUSTER = 60


class FeatureUpdateType(IntEnum):
    """Which way the level of a feature may go."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


@dataclass(frozen=True, slots=True)
class BrokerDescription:
    """A broker, and where clients reach it."""

    node_id: int
    host: str
    port: int
    rack: str | None


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """The brokers of the cluster."""

    cluster_id: str | None
    controller_id: int
    brokers: list[BrokerDescription]
    authorized_operations: frozenset[Operation] | None


@dataclass(frozen=True, slots=True)
class Features:
    """Levels that brokers support and that the cluster has agreed on: (lowest, highest)."""

    supported: dict[str, tuple[int, int]]
    finalized: dict[str, tuple[int, int]]
    finalized_epoch: int | None


class DescriptionArea(AdminArea):
    """The part of the Admin client for the cluster as a whole."""

    async def describe_cluster(self) -> ClusterDescription:
        """The brokers, the controller and the cluster's id."""
        router = self._router
        (node_id, *_) = await router.all_brokers()
        if (await router.cluster.broker(node_id)).versions.has(_DESCRIBE_CLUSTER):
            request = DescribeClusterRequest(include_cluster_authorized_operations=True)
            answer = await router.anyone(request, DescribeClusterResponse)
            brokers = [
                BrokerDescription(each.broker_id, each.host, each.port, each.rack)
                for each in answer.brokers
            ]
            operations = operations_of(answer.cluster_authorized_operations)
            return ClusterDescription(answer.cluster_id, answer.controller_id, brokers, operations)
        older = await router.anyone(MetadataRequest(topics=[]), MetadataResponse)
        brokers = [
            BrokerDescription(each.node_id, each.host, each.port, each.rack)
            for each in older.brokers
        ]
        return ClusterDescription(older.cluster_id, older.controller_id, brokers, None)

    async def describe_api_versions(
        self, brokers: Iterable[int] | None = None
    ) -> Outcomes[int, dict[int, range]]:
        """The versions that each broker speaks, by API key."""
        router = self._router

        async def ask(node_id: int, keys: list[int]) -> Answers[int, dict[int, range]]:
            answer = await router.cluster.ask(node_id, _question(), ApiVersionsResponse)
            found = {
                each.api_key: range(each.min_version, each.max_version + 1)
                for each in answer.api_keys
            }
            return dict.fromkeys(keys, outcome(answer.error_code, found))

        wanted = await router.all_brokers() if brokers is None else brokers
        return await router.each(wanted, router.brokers, ask)

    async def describe_features(self) -> Features:
        """The features that a broker supports, and those that the cluster has agreed on."""
        answer = await self._router.anyone(_question(), ApiVersionsResponse)
        epoch = answer.finalized_features_epoch
        return Features(
            {each.name: (each.min_version, each.max_version) for each in answer.supported_features},
            {
                each.name: (each.min_version_level, each.max_version_level)
                for each in answer.finalized_features
            },
            epoch if epoch >= 0 else None,
        )

    async def update_features(
        self,
        levels: Mapping[str, int],
        *,
        update_type: FeatureUpdateType = FeatureUpdateType.UPGRADE,
        validate_only: bool = False,
    ) -> Outcomes[str, None]:
        """Agree on the levels of features; 0 deletes one."""
        router = self._router

        async def ask(node_id: int, keys: list[str]) -> Answers[str, None]:
            request = UpdateFeaturesRequest(
                timeout_ms=router.settings.request_timeout_ms,
                feature_updates=[
                    FeatureUpdateKey(
                        feature=name, max_version_level=levels[name], upgrade_type=update_type
                    )
                    for name in keys
                ],
                validate_only=validate_only,
            )
            answer = await router.cluster.ask(node_id, request, UpdateFeaturesResponse)
            if answer.error_code:
                return dict.fromkeys(keys, failure(answer.error_code, answer.error_message))
            said = {
                each.feature: outcome(each.error_code, None, each.error_message)
                for each in answer.results
            }
            return {name: said.get(name) for name in keys}

        return await router.each(levels, AtController[str](router.cluster), ask)


def _question() -> ApiVersionsRequest:
    return ApiVersionsRequest(
        client_software_name="moldau", client_software_version=moldau.__version__
    )
