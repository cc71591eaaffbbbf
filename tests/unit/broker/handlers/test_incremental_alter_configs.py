"""IncrementalAlterConfigs: single settings are set, taken away, and lists changed."""

import logging

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from unit.broker.world import Setting, World, broker_world

TOPIC, GROUP, BROKER, LOGGER = 2, 3, 4, 8
SET, DELETE, APPEND, SUBTRACT = range(4)
NEWEST = 1


async def alter(
    world: World,
    kind: int,
    name: str,
    *changes: tuple[str, int, str | None],
    version: int = NEWEST,
    validate_only: bool = False,
) -> int:
    configs = [
        AlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in changes
    ]
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)
    (response,) = (await world.ask(request, version)).responses
    code: int = response.error_code
    return code


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_other_settings_of_a_topic_stay(world: World, version: int) -> None:
    await world.create_topic("t", 1, {"segment.bytes": "20000"})
    change = ("retention.ms", SET, "77")
    assert await alter(world, TOPIC, "t", change, version=version) == ErrorCode.NONE
    config = world.partition("t").log.config
    assert (config.retention_ms, config.segment_bytes) == (77, 20_000)


async def test_a_setting_that_is_taken_away_has_its_default_again(world: World) -> None:
    await world.create_topic("t", 1, {"retention.ms": "77"})
    assert await alter(world, TOPIC, "t", ("retention.ms", DELETE, None)) == ErrorCode.NONE
    assert world.partition("t").log.config.retention_ms == 604_800_000


async def test_elements_come_to_a_list_and_go_from_it(world: World) -> None:
    await world.create_topic("t")
    await alter(world, TOPIC, "t", ("cleanup.policy", APPEND, "compact"))
    assert world.partition("t").log.config.cleanup_policy == ("delete", "compact")
    await alter(world, TOPIC, "t", ("cleanup.policy", SUBTRACT, "delete"))
    assert world.partition("t").log.config.cleanup_policy == ("compact",)


async def test_what_is_only_validated_changes_nothing(world: World) -> None:
    await world.create_topic("t")
    change = ("retention.ms", SET, "77")
    assert await alter(world, TOPIC, "t", change, validate_only=True) == ErrorCode.NONE
    assert world.broker.topic_configs.overrides_of("t") == {}


async def test_settings_of_brokers_outlive_them() -> None:
    setting = Setting()
    async with broker_world(setting=setting) as world:
        assert await alter(world, BROKER, "", ("log.retention.ms", SET, "5")) == ErrorCode.NONE
        assert await alter(world, BROKER, "0", ("log.segment.bytes", SET, "9999")) == ErrorCode.NONE
    async with broker_world(setting=setting) as world:
        await world.create_topic("t")
        config = world.partition("t").log.config
        assert (config.retention_ms, config.segment_bytes) == (5, 9999)


async def test_the_levels_of_loggers_change(world: World) -> None:
    logger = logging.getLogger("moldau.broker.settings.configs")
    name = logger.name
    assert await alter(world, LOGGER, "0", (name, SET, "ERROR")) == ErrorCode.NONE
    assert logger.level == logging.ERROR
    assert await alter(world, LOGGER, "0", (name, DELETE, None)) == ErrorCode.NONE
    assert logger.level == logging.NOTSET


@pytest.mark.parametrize(
    ("kind", "name", "change", "code"),
    [
        (TOPIC, "t", ("retention.ms", SET, "x"), ErrorCode.INVALID_CONFIG),
        (TOPIC, "t", ("no.such", SET, "x"), ErrorCode.INVALID_CONFIG),
        (TOPIC, "t", ("retention.ms", APPEND, "1"), ErrorCode.INVALID_CONFIG),
        (TOPIC, "t", ("retention.ms", SET, None), ErrorCode.INVALID_REQUEST),
        (TOPIC, "t", ("retention.ms", 9, "1"), ErrorCode.INVALID_REQUEST),
        (TOPIC, "none", ("retention.ms", SET, "1"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "", ("retention.ms", SET, "1"), ErrorCode.INVALID_REQUEST),
        (BROKER, "0", ("broker.id", SET, "1"), ErrorCode.INVALID_REQUEST),
        (BROKER, "0", ("log.retention.ms", SET, "x"), ErrorCode.INVALID_REQUEST),
        (BROKER, "", ("listeners", SET, "PLAINTEXT://:1"), ErrorCode.INVALID_REQUEST),
        (BROKER, "2", ("log.retention.ms", SET, "1"), ErrorCode.INVALID_REQUEST),
        (
            BROKER,
            "0",
            ("listener.name.plaintext.ssl.key.password", SET, "x"),
            ErrorCode.INVALID_CONFIG,
        ),
        (LOGGER, "", ("root", SET, "INFO"), ErrorCode.INVALID_REQUEST),
        (LOGGER, "0", ("no.such.logger", SET, "INFO"), ErrorCode.INVALID_CONFIG),
        (GROUP, "g", ("a", SET, "1"), ErrorCode.INVALID_REQUEST),
    ],
)
async def test_a_bad_wish_is_refused(
    world: World, kind: int, name: str, change: tuple[str, int, str | None], code: ErrorCode
) -> None:
    await world.create_topic("t")
    assert await alter(world, kind, name, change) == code
    assert world.broker.topic_configs.overrides_of("t") == {}


async def test_a_setting_that_comes_twice_is_refused(world: World) -> None:
    await world.create_topic("t")
    changes = [("retention.ms", SET, "1"), ("retention.ms", SET, "2")]
    assert await alter(world, TOPIC, "t", *changes) == ErrorCode.INVALID_REQUEST


async def test_a_resource_that_comes_twice_is_refused(world: World) -> None:
    resource = AlterConfigsResource(resource_type=TOPIC, resource_name="t", configs=[])
    request = IncrementalAlterConfigsRequest(resources=[resource] * 2, validate_only=True)
    codes = [one.error_code for one in (await world.ask(request, NEWEST)).responses]
    assert codes == [ErrorCode.INVALID_REQUEST] * 2
