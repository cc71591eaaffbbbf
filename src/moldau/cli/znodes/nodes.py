"""Nodes that a command makes if they are not there."""

from moldau.coordination.tree import Create, NodeExists, Tree


async def create_with_parents(tree: Tree, path: str, data: bytes | None = None) -> None:
    """Create a node and those above it, unless it is there."""
    parts = path.split("/")
    for end in range(2, len(parts) + 1):
        part = "/".join(parts[:end])
        if await tree.exists(part):
            continue
        try:
            await tree.create(Create(part, data if part == path else None))
        except NodeExists:
            continue
