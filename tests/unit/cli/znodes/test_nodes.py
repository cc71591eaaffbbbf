"""Nodes that a command makes if they are not there."""

from moldau.cli.znodes.nodes import create_with_parents
from moldau.coordination.memory import MemoryTree


async def test_a_node_is_made_with_those_above_it_once(tree: MemoryTree) -> None:
    await create_with_parents(tree, "/x/y/z", b"first")
    await create_with_parents(tree, "/x/y/z", b"second")
    assert (await tree.get("/x/y")).data == b""
    assert (await tree.get("/x/y/z")).data == b"first"
