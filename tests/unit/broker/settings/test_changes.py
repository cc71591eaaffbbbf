"""Changes to settings: each kind of resource in its own way, or not at all."""

import pytest

from moldau.broker.settings.changes import operation_of, require_own_loggers
from moldau.broker.settings.resources import ConfigResourceType, RequestedResource
from moldau.config.alteration import Alteration, AlterOperation
from moldau.errors import ErrorCode, KafkaError
from unit.broker.world import World, broker_world

TOPIC = RequestedResource(ConfigResourceType.TOPIC, "t")
BROKER = RequestedResource(ConfigResourceType.BROKER, "0")


async def set_one(world: World, resource: RequestedResource, name: str, value: str) -> None:
    change = Alteration(name, AlterOperation.SET, value)
    await world.broker.config_changes.alter(resource, [change], is_only_checked=False)


async def test_changes_of_a_topic_add_up() -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        await set_one(world, TOPIC, "retention.ms", "5")
        await set_one(world, TOPIC, "segment.bytes", "9999")
        assert world.broker.topic_configs.overrides_of("t") == {
            "retention.ms": "5",
            "segment.bytes": "9999",
        }


async def test_a_replacement_keeps_nothing() -> None:
    async with broker_world() as world:
        await set_one(world, BROKER, "log.retention.ms", "5")
        changes = world.broker.config_changes
        await changes.replace(BROKER, {"log.segment.bytes": "9999"}, is_only_checked=False)
        assert world.broker.configs.layers.broker == {"log.segment.bytes": "9999"}


async def test_what_is_only_checked_is_not_changed() -> None:
    async with broker_world() as world:
        changes = world.broker.config_changes
        await changes.replace(BROKER, {"log.segment.bytes": "9999"}, is_only_checked=True)
        assert world.broker.configs.layers.broker == {}


async def test_a_secret_is_not_put_into_the_tree() -> None:
    async with broker_world() as world:
        name = "listener.name.plaintext.ssl.keystore.password"
        with pytest.raises(KafkaError) as refused:
            await set_one(world, BROKER, name, "secret")
        assert refused.value.code == ErrorCode.INVALID_CONFIG
        assert world.broker.configs.layers.broker == {}


def test_operations_have_kafkas_numbers() -> None:
    assert [operation_of(number) for number in range(4)] == list(AlterOperation)
    with pytest.raises(KafkaError):
        operation_of(4)


def test_loggers_belong_to_one_broker() -> None:
    require_own_loggers(RequestedResource(ConfigResourceType.BROKER_LOGGER, "3"), 3)
    with pytest.raises(KafkaError):
        require_own_loggers(RequestedResource(ConfigResourceType.BROKER_LOGGER, ""), 3)
