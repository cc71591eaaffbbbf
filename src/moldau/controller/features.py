"""The node of finalized features, which every controller leaves as its protocol wants it."""

from moldau.controller.state_nodes import StateNodes
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout.cluster import FEATURE_PATH, FeatureNode


async def set_up_features(reader: TreeReader, nodes: StateNodes, wanted: FeatureNode) -> None:
    """Write the node unless it says the same already, or names features, which are not ours."""
    found = await reader.features()
    if found is None or (found != wanted and not found.finalized):
        await nodes.put(FEATURE_PATH, wanted.encode())
