"""Which broker of which cluster this is, and where that is written down."""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from moldau.config.broker.broker import BrokerConfig
from moldau.config.values import config_error
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout import cluster as cluster_nodes
from moldau.coordination.layout.roots import PERSISTENT_PATHS, with_parents
from moldau.coordination.tree import Create, NodeExists, Tree
from moldau.log import meta_properties
from moldau.model import format_uuid
from moldau.runtime.disk import Disk

STANDALONE_BROKER_ID = 0
UNSET = -1


class BrokerIdentity(NamedTuple):
    """A broker's place in the world."""

    broker_id: int
    cluster_id: str


async def establish(tree: Tree, disk: Disk, config: BrokerConfig, *, uuid: bytes) -> BrokerIdentity:
    """Find out this broker's id; a new cluster gets the id that `uuid` stands for.

    What the configuration says comes first, then what the log directories remember. A broker
    that is alone takes its old cluster id along; in a cluster the tree has the say, and log
    directories of another one are refused.
    """
    remembered = [
        found
        for path in config.log_dirs
        if (found := meta_properties.read(disk, f"{path}/{meta_properties.FILE_NAME}")) is not None
    ]
    known = [found.cluster_id for found in remembered if found.cluster_id is not None]
    await _create_roots(tree)
    is_kept = known and config.is_standalone
    cluster_id = await _cluster_id(tree, known[0] if is_kept else format_uuid(uuid))
    broker_id = config.general.broker_id
    if broker_id == UNSET:
        broker_id = remembered[0].broker_id if remembered else await _new_id(tree, config)
    return BrokerIdentity(broker_id, cluster_id)


async def _new_id(tree: Tree, config: BrokerConfig) -> int:
    if config.is_standalone:
        return STANDALONE_BROKER_ID
    if not config.general.broker_id_generation_enable:
        raise config_error("broker.id: must be set, for broker.id.generation.enable is false")
    # Every write gives the node another version: no other broker gets this one.
    stat = await tree.set(broker_nodes.SEQUENCE_PATH, b"")
    return config.general.reserved_broker_max_id + stat.version


async def _create_roots(tree: Tree) -> None:
    paths = with_parents((*PERSISTENT_PATHS, cluster_nodes.ID_PATH))
    missing = [
        Create(path)
        for path in paths
        if path != cluster_nodes.ID_PATH and await tree.exists(path) is None
    ]
    if not missing:
        return
    try:
        # At once: a new store would sync to disk for each of them.
        await tree.multi(missing)
    except NodeExists:
        # Another broker of a new cluster was quicker, at least with some.
        await _create_each(tree, missing)


async def _create_each(tree: Tree, nodes: Sequence[Create]) -> None:
    for node in nodes:
        with suppress(NodeExists):
            await tree.create(node)


async def _cluster_id(tree: Tree, proposed: str) -> str:
    if await tree.exists(cluster_nodes.ID_PATH) is None:
        try:
            await tree.create(
                Create(cluster_nodes.ID_PATH, cluster_nodes.encode_cluster_id(proposed))
            )
        except NodeExists:
            pass
        else:
            return proposed
    return cluster_nodes.decode_cluster_id((await tree.get(cluster_nodes.ID_PATH)).data)
