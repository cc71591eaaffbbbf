"""FindCoordinator makes the internal topic and names the leader of the key's partition."""

import pytest

from moldau.broker.topics.internal import CONSUMER_OFFSETS, TRANSACTION_STATE
from moldau.coordination.tree import SessionLost
from moldau.errors import ErrorCode
from moldau.protocol.messages.find_coordinator import FindCoordinatorRequest
from unit.broker.group_client import SETTINGS
from unit.broker.world import broker_world


@pytest.mark.parametrize("version", range(4))
async def test_one_key_is_found_and_the_topic_made(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        found = await world.ask(FindCoordinatorRequest(key="g"), version)
        assert (found.error_code, found.node_id) == (ErrorCode.NONE, world.broker.id)
        assert len(world.broker.metadata.image.topics[CONSUMER_OFFSETS].partitions) == 2
        config = world.broker.topic_configs.of(CONSUMER_OFFSETS)
        assert config.cleanup_policy == ("compact",)


@pytest.mark.parametrize("version", range(4, 7))
async def test_several_keys_are_found_each_once(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        request = FindCoordinatorRequest(coordinator_keys=["g", "h", "g"])
        found = await world.ask(request, version)
        assert [(each.key, each.error_code) for each in found.coordinators] == [("g", 0), ("h", 0)]


async def test_transactional_ids_have_a_topic_of_their_own() -> None:
    settings = {**SETTINGS, "transaction.state.log.num.partitions": "1"}
    async with broker_world(settings) as world:
        found = await world.ask(FindCoordinatorRequest(key="t", key_type=1), 1)
        assert found.error_code == ErrorCode.NONE
        assert TRANSACTION_STATE in world.broker.metadata.image.topics


async def test_without_enough_brokers_there_is_no_coordinator_yet() -> None:
    async with broker_world({**SETTINGS, "offsets.topic.replication.factor": "3"}) as world:
        found = await world.ask(FindCoordinatorRequest(key="g"), 1)
        assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert (found.node_id, found.host, found.port) == (-1, "", -1)


async def test_without_the_tree_there_is_no_coordinator_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with broker_world(SETTINGS) as world:

        async def create(_name: str, **_: str) -> None:
            raise SessionLost

        monkeypatch.setattr(world.broker.auto_creation, "create", create)
        found = await world.ask(FindCoordinatorRequest(key="g"), 1)
        assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE


@pytest.mark.parametrize("version", [1, 4])
async def test_other_kinds_of_coordinators_are_refused(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        keys = ["g"] if version >= 4 else []
        request = FindCoordinatorRequest(
            key="" if version >= 4 else "g", key_type=9, coordinator_keys=keys
        )
        found = await world.ask(request, version)
        answer = found.coordinators[0] if version >= 4 else found
        assert answer.error_code == ErrorCode.INVALID_REQUEST


async def test_an_internal_topic_made_on_the_way_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "moldau.broker.topics.tree")
    async with broker_world() as world:
        await world.ask(FindCoordinatorRequest(key="g"), 3)
    cause = "since client 'test' at 10.0.0.9 needs it"
    shape = "50 partitions, replication factor 1"
    assert caplog.messages == [f"created topic {CONSUMER_OFFSETS}: {shape}, {cause}"]
