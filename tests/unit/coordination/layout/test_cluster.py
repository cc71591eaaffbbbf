"""The cluster's id and features."""

import pytest

from moldau.coordination.layout.cluster import (
    FeatureNode,
    decode_cluster_id,
    decode_features,
    encode_cluster_id,
)
from unit.coordination.layout.conftest import Nodes


def test_the_cluster_id_is_written_as_apache_kafka_writes_it(apache: Nodes) -> None:
    assert encode_cluster_id("abc-_def") == apache["cluster-id"]
    assert decode_cluster_id(apache["cluster-id"]) == "abc-_def"


@pytest.mark.parametrize(
    ("name", "features"),
    [("feature", FeatureNode(True)), ("feature-disabled", FeatureNode(False, 1))],
)
def test_features_are_written_as_apache_kafka_writes_them(
    apache: Nodes, name: str, features: FeatureNode
) -> None:
    assert features.encode() == apache[name]
    assert decode_features(apache[name]) == features


def test_features_that_are_finalized_are_named() -> None:
    data = b'{"features":{"f":{"max_version_level":3}},"version":1,"status":1}'
    assert decode_features(data) == FeatureNode(True, 1, ("f",))
