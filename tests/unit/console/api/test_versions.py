"""What brokers are like is found from what they speak."""

from collections.abc import Iterator
from contextlib import contextmanager

from moldau.client.admin.description import Features
from moldau.console.api.versions import feature_rows
from moldau.errors import ErrorCode
from moldau.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
)
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Respond
from unit.console.asking import Asking

SPOKEN = [ApiVersion(api_key=18, min_version=0, max_version=4)]


@contextmanager
def saying(broker: EmbeddedBroker, *answers: ApiVersionsResponse) -> Iterator[None]:
    """Answers in turn, the last one again and again."""
    left = list(answers)
    end = broker.control(
        "ApiVersions", lambda _: Respond(left.pop(0) if len(left) > 1 else left[0])
    )
    try:
        yield
    finally:
        end()


async def test_a_broker_is_like_a_release_and_has_a_protocol(console: Asking) -> None:
    found = await console.get("/versions")
    (broker,) = found["brokers"]
    assert (broker["id"], broker["release"]) == (0, "3.9")
    assert broker["protocol"].startswith("3.9")
    assert found["features"] == []


async def test_a_cluster_with_a_metadata_version_has_no_protocol(
    console: Asking, broker: EmbeddedBroker
) -> None:
    level = FinalizedFeatureKey(name="metadata.version", max_version_level=27, min_version_level=27)
    answer = ApiVersionsResponse(
        error_code=0, api_keys=SPOKEN, finalized_features_epoch=1, finalized_features=[level]
    )
    await console.get("/versions")
    with saying(broker, answer):
        found = await console.get("/versions")
    assert found["brokers"] == [{"id": 0, "protocol": None, "release": "0.10.0, and parts of 3.9"}]
    (feature,) = found["features"]
    assert feature["finalized"] == ["4.1-IV1", "4.1-IV1"]


async def test_a_broker_that_does_not_say_is_marked(
    console: Asking, broker: EmbeddedBroker
) -> None:
    await console.get("/versions")
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    refused = ApiVersionsResponse(error_code=code, api_keys=[])
    with saying(broker, refused, ApiVersionsResponse(error_code=0, api_keys=SPOKEN)):
        (row,) = (await console.get("/versions"))["brokers"]
    assert row["error"] == "CLUSTER_AUTHORIZATION_FAILED"
    assert "release" not in row


def test_features_have_their_levels() -> None:
    features = Features({"metadata.version": (1, 21), "group.version": (0, 1)}, {}, None)
    assert feature_rows(features) == [
        {"name": "group.version", "finalized": None, "supported": ["0", "1"]},
        {"name": "metadata.version", "finalized": None, "supported": ["3.0-IV1", "3.9-IV0"]},
    ]
