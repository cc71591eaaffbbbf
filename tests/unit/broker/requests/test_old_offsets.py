"""Offsets in the tree, where the first consumers kept them."""

from moldau.broker.requests.old_offsets import OldOffsets
from moldau.coordination.memory import MemoryEnsemble
from moldau.coordination.tree import Create
from moldau.model import TopicPartition
from scenarios.group_script import ScriptClock

TP = TopicPartition("t", 3)


async def test_an_offset_is_stored_where_zookeeper_consumers_look() -> None:
    tree = MemoryEnsemble(ScriptClock()).connect()
    offsets = OldOffsets(tree)
    assert await offsets.get("g", TP) is None
    await offsets.set("g", TP, 5)
    await offsets.set("g", TP, 6)
    assert await offsets.get("g", TP) == 6
    assert (await tree.get("/consumers/g/offsets/t/3")).data == b"6"


async def test_what_is_not_a_number_is_no_offset() -> None:
    tree = MemoryEnsemble(ScriptClock()).connect()
    offsets = OldOffsets(tree)
    await offsets.set("g", TopicPartition("t", 4), 1)
    await tree.create(Create("/consumers/g/offsets/t/3", b"?"))
    assert await offsets.get("g", TP) is None
