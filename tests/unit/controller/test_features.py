"""The node of finalized features, at the beginning of a controller's term."""

import pytest

from moldau.controller.service import Rules
from moldau.coordination.layout.cluster import FEATURE_PATH, FeatureNode
from moldau.coordination.tree import Create
from unit.controller.brokers import Cluster

WANTED = FeatureNode(is_enabled=True, version=1)
RULES = Rules(is_unclean_allowed=lambda _topic, _settings: False, features=WANTED)
DISABLED = FeatureNode(is_enabled=False, version=1)
FINALIZED = b'{"features":{"f":3},"version":2,"status":1}'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, WANTED.encode()),
        (b"?", WANTED.encode()),
        (DISABLED.encode(), WANTED.encode()),
        (FINALIZED, FINALIZED),
    ],
)
async def test_a_controller_leaves_the_node_as_its_protocol_wants_it(
    before: bytes | None, after: bytes
) -> None:
    cluster = await Cluster.create(1)
    if before is not None:
        await cluster.admin.create(Create(FEATURE_PATH, before))
    async with cluster.running(cluster.service(1, RULES)):
        assert (await cluster.admin.get(FEATURE_PATH)).data == after


async def test_what_is_right_already_is_not_written_again() -> None:
    cluster = await Cluster.create(1)
    await cluster.admin.create(Create(FEATURE_PATH, WANTED.encode()))
    async with cluster.running(cluster.service(1, RULES)):
        assert (await cluster.admin.get(FEATURE_PATH)).stat.version == 0
