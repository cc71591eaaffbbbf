"""Which broker of which cluster this is, and where that is written down."""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from moldau.coordination.layout import cluster as cluster_nodes
from moldau.coordination.layout.roots import PERSISTENT_PATHS, with_parents
from moldau.coordination.tree import Create, NodeExists, Tree
from moldau.log import meta_properties
from moldau.model import format_uuid
from moldau.runtime.disk import Disk

STANDALONE_BROKER_ID = 0
UNSET = -1


class Identity(NamedTuple):
    """A broker's place in the world."""

    broker_id: int
    cluster_id: str


async def establish(
    tree: Tree, disk: Disk, log_dirs: Sequence[str], *, configured_id: int, uuid: bytes
) -> Identity:
    """Find out who this broker is; a new cluster gets the id that `uuid` stands for.

    What the configuration says comes first, then what the log directories remember.
    """
    remembered = [
        found
        for path in log_dirs
        if (found := meta_properties.read(disk, f"{path}/{meta_properties.FILE_NAME}")) is not None
    ]
    broker_id = configured_id
    if broker_id == UNSET:
        broker_id = remembered[0].broker_id if remembered else STANDALONE_BROKER_ID
    known = [found.cluster_id for found in remembered if found.cluster_id is not None]
    await _create_roots(tree)
    return Identity(broker_id, await _cluster_id(tree, known[0] if known else format_uuid(uuid)))


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
