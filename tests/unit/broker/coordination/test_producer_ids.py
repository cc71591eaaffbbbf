"""Producer ids: never the same twice, whatever happens to the broker."""

import asyncio

from moldau.broker.coordination.producer_ids import ProducerIds
from moldau.coordination.layout import producer_ids as nodes
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import Create
from unit.broker.world import SettableClock


async def tree_with_root() -> MemoryTree:
    tree = MemoryEnsemble(SettableClock()).connect()
    await tree.create(Create(nodes.PATH))
    return tree


async def test_ids_count_up_across_blocks() -> None:
    ids = ProducerIds(await tree_with_root(), 1)
    assert [await ids.next() for _ in range(2001)] == list(range(2001))


async def test_a_new_life_of_a_broker_leaves_the_rest_of_the_old_block() -> None:
    tree = await tree_with_root()
    assert await ProducerIds(tree, 1).next() == 0
    assert await ProducerIds(tree, 1).next() == 1000


async def test_two_brokers_have_blocks_of_their_own() -> None:
    tree = await tree_with_root()
    one, other = ProducerIds(tree, 1), ProducerIds(tree, 2)
    given = [await broker.next() for _ in range(1500) for broker in (one, other)]
    assert len(set(given)) == 3000


async def test_a_thousand_producers_at_once_share_one_block() -> None:
    tree = await tree_with_root()
    ids = ProducerIds(tree, 1)
    given = await asyncio.gather(*(ids.next() for _ in range(1000)))
    assert sorted(given) == list(range(1000))
    assert nodes.decode_producer_id_block((await tree.get(nodes.PATH)).data).end == 1000


async def test_brokers_that_claim_at_the_same_time_do_not_get_the_same() -> None:
    tree = await tree_with_root()
    brokers = [ProducerIds(tree, broker_id) for broker_id in range(5)]
    given = await asyncio.gather(*(broker.next() for broker in brokers))
    assert sorted(given) == [0, 1000, 2000, 3000, 4000]
