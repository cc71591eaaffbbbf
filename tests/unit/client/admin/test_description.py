"""The cluster as a whole."""

import pytest

from moldau.client.admin.admin import Admin
from moldau.errors import ClusterAuthorizationFailed, InvalidUpdateVersion
from moldau.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from moldau.protocol.messages.update_features import (
    UpdatableFeatureResult,
    UpdateFeaturesResponse,
)
from moldau.security.acls import Operation
from moldau.testing.broker import EmbeddedBroker
from unit.client.admin.answering import Answering, admin_of

METADATA, UPDATE_FEATURES, API_VERSIONS = 3, 57, 18


async def test_the_cluster_has_brokers_and_a_controller(
    admin: Admin, kafka: EmbeddedBroker
) -> None:
    cluster = await admin.describe_cluster()
    (broker,) = cluster.brokers
    assert f"{broker.host}:{broker.port}" == kafka.bootstrap_servers
    assert (cluster.controller_id, broker.node_id, broker.rack) == (0, 0, None)
    assert cluster.cluster_id
    assert Operation.ALTER in (cluster.authorized_operations or ())


async def test_older_brokers_say_it_with_metadata() -> None:
    broker = Answering()
    async with admin_of(broker) as admin:
        cluster = await admin.describe_cluster()
    assert [each.port for each in cluster.brokers] == [broker.address.port]
    assert cluster.authorized_operations is None


async def test_each_broker_says_what_it_speaks(admin: Admin) -> None:
    assert (await admin.describe_api_versions())[0][METADATA] == range(13)


async def test_features_have_levels() -> None:
    answer = ApiVersionsResponse(
        error_code=0,
        api_keys=[
            ApiVersion(api_key=key, min_version=0, max_version=0)
            for key in (METADATA, UPDATE_FEATURES, API_VERSIONS)
        ],
        supported_features=[SupportedFeatureKey(name="f", min_version=0, max_version=3)],
        finalized_features_epoch=7,
        finalized_features=[
            FinalizedFeatureKey(name="f", max_version_level=2, min_version_level=1)
        ],
    )
    answer.api_keys[-1].max_version = 4
    async with admin_of(Answering(ApiVersions=lambda _: answer)) as admin:
        features = await admin.describe_features()
    assert features.supported == {"f": (0, 3)}
    assert features.finalized == {"f": (1, 2)}
    assert features.finalized_epoch == 7


async def test_a_cluster_without_features_has_none(admin: Admin) -> None:
    features = await admin.describe_features()
    assert (features.finalized, features.finalized_epoch) == ({}, None)


async def test_levels_are_agreed_on() -> None:
    refused = UpdatableFeatureResult(feature="g", error_code=95, error_message="no")
    answer = UpdateFeaturesResponse(
        throttle_time_ms=0, error_code=0, error_message=None, results=[refused]
    )
    async with admin_of(Answering(UpdateFeatures=lambda _: answer)) as admin:
        outcomes = await admin.update_features({"f": 2, "g": 9})
    assert outcomes["f"] is None
    with pytest.raises(InvalidUpdateVersion):
        outcomes["g"]


async def test_who_may_not_agree_on_levels_is_told_so() -> None:
    answer = UpdateFeaturesResponse(
        throttle_time_ms=0, error_code=31, error_message="no", results=[]
    )
    async with admin_of(Answering(UpdateFeatures=lambda _: answer)) as admin:
        with pytest.raises(ClusterAuthorizationFailed):
            (await admin.update_features({"f": 2}))["f"]
