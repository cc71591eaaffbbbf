"""A broker's node and epoch."""

import asyncio

import pytest

from moldau.broker.membership.registration import NO_BROKER_EPOCH, Registration
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout.brokers import BrokerRegistration, RegisteredEndpoint
from moldau.coordination.memory import MemoryEnsemble
from moldau.coordination.tree import Create, NotAllowed, WatchEvent
from moldau.errors import ErrorCode, KafkaError
from unit.broker.world import SettableClock
from unit.waiting import settled

NODE = BrokerRegistration(endpoints=(RegisteredEndpoint("P", "PLAINTEXT", "h", 1),), timestamp_ms=5)


async def ensemble() -> MemoryEnsemble:
    made = MemoryEnsemble(SettableClock())
    tree = made.connect()
    for path in ("/brokers", broker_nodes.IDS_PATH):
        await tree.create(Create(path))
    return made


async def test_each_life_of_a_broker_has_a_later_epoch() -> None:
    made = await ensemble()
    epochs = []
    for _ in range(2):
        tree = made.connect()
        registration = Registration(3, patience_s=0.01)
        assert (registration.epoch, registration.is_current) == (NO_BROKER_EPOCH, False)
        await registration.register(tree, NODE)
        epochs.append(registration.epoch)
        assert registration.is_current
        node = await tree.get(broker_nodes.id_path(3))
        assert broker_nodes.decode_broker(node.data).endpoints == NODE.endpoints
        assert node.stat.ephemeral_owner == tree.session_id
        await tree.close()
    assert epochs[0] < epochs[1]


async def test_a_broker_does_not_take_the_place_of_another_life() -> None:
    made = await ensemble()
    await Registration(3, patience_s=0.01).register(made.connect(), NODE)
    second = Registration(3, patience_s=0.01)
    with pytest.raises(KafkaError, match="broker 3 is registered already") as refused:
        await second.register(made.connect(), NODE)
    assert refused.value.code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    assert second.epoch == NO_BROKER_EPOCH


async def test_the_node_of_a_life_that_has_just_ended_is_waited_for() -> None:
    made = await ensemble()
    first, second = Registration(3, patience_s=10), Registration(3, patience_s=10)
    tree = made.connect()
    await first.register(tree, NODE)
    registering = asyncio.create_task(second.register(made.connect(), NODE))
    await settled()
    assert not registering.done()
    await tree.close()
    await registering
    assert second.epoch > first.epoch


async def test_a_node_that_this_session_has_created_already_is_its_own() -> None:
    made = await ensemble()
    tree = made.connect()
    registration = Registration(3, patience_s=0.01)
    await registration.register(tree, NODE)
    epoch = registration.epoch
    await registration.register(tree, NODE)
    assert registration.epoch == epoch


async def test_a_node_that_goes_just_now_is_no_obstacle() -> None:
    made = await ensemble()
    first, tree = made.connect(), made.connect()
    await Registration(3, patience_s=0.01).register(first, NODE)
    second = Registration(3, patience_s=10)
    registering = asyncio.create_task(second.register(tree, NODE))
    await asyncio.sleep(0)
    await first.close()
    await registering
    assert second.epoch > 0


async def test_requests_for_an_earlier_life_are_refused() -> None:
    registration = Registration(3, patience_s=0.01)
    await registration.register((await ensemble()).connect(), NODE)
    for epoch in (registration.epoch, registration.epoch + 1, NO_BROKER_EPOCH):
        registration.require_epoch(epoch)
    with pytest.raises(KafkaError) as refused:
        registration.require_epoch(registration.epoch - 1)
    assert refused.value.code == ErrorCode.STALE_BROKER_EPOCH


def moved(port: int) -> BrokerRegistration:
    return BrokerRegistration(
        endpoints=(RegisteredEndpoint("P", "PLAINTEXT", "h", port),), timestamp_ms=6
    )


async def test_the_heir_of_a_broker_takes_its_place_at_once() -> None:
    made = await ensemble()
    seen: list[WatchEvent] = []
    first, second = Registration(3, patience_s=5), Registration(3, patience_s=5, may_replace=True)
    await first.register(made.connect(), NODE)
    await made.connect().children(broker_nodes.IDS_PATH, watch=seen.append)
    tree = made.connect()
    await second.register(tree, moved(1))
    assert second.epoch > first.epoch
    node = await tree.get(broker_nodes.id_path(3))
    assert (node.stat.ephemeral_owner, node.stat.czxid) == (tree.session_id, second.epoch)
    assert broker_nodes.decode_broker(node.data).timestamp_ms == 6
    assert len(seen) == 1


@pytest.mark.parametrize("data", [moved(2).encode(), b"?"])
async def test_a_registration_that_names_another_place_is_waited_for(data: bytes) -> None:
    """It may be another process that has got a copy of the same data."""
    made = await ensemble()
    owner = made.connect()
    await owner.create(Create(broker_nodes.id_path(3), data, is_ephemeral=True))
    heir = Registration(3, patience_s=10, may_replace=True)
    registering = asyncio.create_task(heir.register(made.connect(), NODE))
    await settled()
    assert not registering.done()
    assert (await owner.get(broker_nodes.id_path(3))).data == data
    await owner.close()
    await registering


async def test_who_may_not_replace_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    made = await ensemble()
    first, tree = made.connect(), made.connect()
    await Registration(3, patience_s=5).register(first, NODE)

    async def refuse(_operations: object) -> None:
        raise NotAllowed(broker_nodes.IDS_PATH)

    monkeypatch.setattr(tree, "multi", refuse)
    registering = asyncio.create_task(
        Registration(3, patience_s=10, may_replace=True).register(tree, NODE)
    )
    await settled()
    assert not registering.done()
    await first.close()
    await registering


@pytest.mark.parametrize("turns", range(8))
async def test_what_changes_while_it_is_replaced_is_looked_at_again(turns: int) -> None:
    made = await ensemble()
    first = made.connect()
    await Registration(3, patience_s=5).register(first, NODE)
    heir = Registration(3, patience_s=5, may_replace=True)
    tree = made.connect()
    registering = asyncio.create_task(heir.register(tree, NODE))
    for _ in range(turns):
        await asyncio.sleep(0)
    if turns % 2:
        await first.close()
    else:
        # It listened elsewhere for a moment: the version is another one.
        await tree.set(broker_nodes.id_path(3), NODE.encode())
    await registering
    node = await tree.get(broker_nodes.id_path(3))
    assert (node.stat.ephemeral_owner, node.stat.czxid) == (tree.session_id, heir.epoch)
