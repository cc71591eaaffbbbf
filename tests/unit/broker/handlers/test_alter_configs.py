"""AlterConfigs: all dynamic settings of a resource at once."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from unit.broker.world import World

TOPIC, BROKER, LOGGER = 2, 4, 8
NEWEST = 2


def resource(kind: int, name: str, **settings: str | None) -> AlterConfigsResource:
    configs = [
        AlterableConfig(name=key.replace("_", "."), value=value) for key, value in settings.items()
    ]
    return AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)


async def alter(
    world: World,
    *resources: AlterConfigsResource,
    version: int = NEWEST,
    validate_only: bool = False,
) -> list[int]:
    request = AlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    return [one.error_code for one in (await world.ask(request, version)).responses]


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_settings_that_are_not_named_go(world: World, version: int) -> None:
    await world.create_topic("t", 1, {"segment.bytes": "20000"})
    codes = await alter(world, resource(TOPIC, "t", retention_ms="77"), version=version)
    assert codes == [ErrorCode.NONE]
    config = world.partition("t").log.config
    assert (config.retention_ms, config.segment_bytes) == (77, 2**30)


async def test_what_is_only_validated_changes_nothing(world: World) -> None:
    await world.create_topic("t")
    codes = await alter(world, resource(TOPIC, "t", retention_ms="77"), validate_only=True)
    assert codes == [ErrorCode.NONE]
    assert world.broker.topic_configs.overrides_of("t") == {}


async def test_settings_of_a_broker_reach_its_logs(world: World) -> None:
    await world.create_topic("t")
    assert await alter(world, resource(BROKER, "0", log_retention_ms="55")) == [ErrorCode.NONE]
    assert world.broker.config.log.log_retention_ms == 55
    assert world.partition("t").log.config.retention_ms == 55


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (resource(TOPIC, "t", retention_ms="x"), ErrorCode.INVALID_CONFIG),
        (resource(TOPIC, "t", no_such="x"), ErrorCode.INVALID_CONFIG),
        (resource(TOPIC, "t", retention_ms=None), ErrorCode.INVALID_REQUEST),
        (resource(TOPIC, "none", retention_ms="1"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (resource(TOPIC, "", retention_ms="1"), ErrorCode.INVALID_REQUEST),
        (resource(BROKER, "7", log_retention_ms="1"), ErrorCode.INVALID_REQUEST),
        (resource(LOGGER, "0", root="INFO"), ErrorCode.INVALID_REQUEST),
    ],
)
async def test_a_bad_wish_is_refused(
    world: World, wanted: AlterConfigsResource, code: ErrorCode
) -> None:
    await world.create_topic("t")
    good = resource(TOPIC, "u")
    await world.create_topic("u")
    assert await alter(world, wanted, good) == [code, ErrorCode.NONE]


async def test_what_comes_twice_is_refused(world: World) -> None:
    await world.create_topic("t")
    same = resource(TOPIC, "t", retention_ms="1")
    assert await alter(world, same, same) == [ErrorCode.INVALID_REQUEST] * 2
    same.configs *= 2
    assert await alter(world, same) == [ErrorCode.INVALID_REQUEST]
