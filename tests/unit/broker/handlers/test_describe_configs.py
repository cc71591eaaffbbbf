"""DescribeConfigs: settings of topics and brokers, and where they come from."""

import pytest

from moldau.coordination.layout.configs import ConfigEntity
from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)
from unit.broker.world import World, broker_world

TOPIC, GROUP, BROKER, LOGGER = 2, 3, 4, 8
NEWEST = 4


async def describe(
    world: World,
    kind: int,
    name: str,
    keys: list[str] | None = None,
    *,
    version: int = NEWEST,
    synonyms: bool = False,
    documentation: bool = False,
) -> DescribeConfigsResult:
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys
    )
    request = DescribeConfigsRequest(
        resources=[resource], include_synonyms=synonyms, include_documentation=documentation
    )
    (result,) = (await world.ask(request, version)).results
    assert (result.resource_type, result.resource_name) == (kind, name)
    described: DescribeConfigsResult = result
    return described


def by_name(result: DescribeConfigsResult) -> dict[str, DescribeConfigsResourceResult]:
    assert result.error_code == ErrorCode.NONE
    return {config.name: config for config in result.configs}


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_a_topics_own_settings_stand_among_the_defaults(world: World, version: int) -> None:
    await world.create_topic("t", 1, {"retention.ms": "77"})
    configs = by_name(await describe(world, TOPIC, "t", version=version))
    assert configs["retention.ms"].value == "77"
    assert configs["cleanup.policy"].value == "delete"
    if version == 0:
        assert [configs[name].is_default for name in ("retention.ms", "cleanup.policy")] == [
            False,
            True,
        ]
    else:
        assert configs["retention.ms"].config_source == 1
        assert configs["cleanup.policy"].config_source == 5
    assert configs["retention.ms"].config_type == (5 if version >= 3 else 0)


async def test_only_what_is_asked_for_is_described(world: World) -> None:
    await world.create_topic("t")
    keys = ["retention.ms", "no.such.setting"]
    assert list(by_name(await describe(world, TOPIC, "t", keys))) == ["retention.ms"]


async def test_an_empty_list_of_names_asks_for_everything(world: World) -> None:
    await world.create_topic("t")
    assert len(by_name(await describe(world, TOPIC, "t", []))) > 20


async def test_synonyms_and_documentation_come_only_when_asked_for(world: World) -> None:
    await world.create_topic("t", 1, {"segment.bytes": "20000"})
    plain = by_name(await describe(world, TOPIC, "t"))["segment.bytes"]
    assert (plain.synonyms, plain.documentation) == ([], None)
    full = by_name(await describe(world, TOPIC, "t", synonyms=True, documentation=True))
    named = [(one.name, one.value, one.source) for one in full["segment.bytes"].synonyms]
    assert named == [("segment.bytes", "20000", 1), ("log.segment.bytes", "1073741824", 5)]
    assert full["segment.bytes"].documentation


async def test_a_broker_describes_what_its_file_says_and_hides_secrets() -> None:
    async with broker_world({"broker.id": "3", "ssl.key.password": "secret"}) as world:
        configs = by_name(await describe(world, BROKER, "3", synonyms=True))
        assert (configs["broker.id"].value, configs["broker.id"].config_source) == ("3", 4)
        assert configs["broker.id"].read_only
        secret = configs["ssl.key.password"]
        assert (secret.value, secret.is_sensitive) == (None, True)
        assert [one.value for one in secret.synonyms] == [None]


async def test_all_brokers_have_only_what_was_set_for_all(world: World) -> None:
    assert by_name(await describe(world, BROKER, "")) == {}
    await world.broker.configs.alter(ConfigEntity.broker(None), lambda _: {"log.retention.ms": "5"})
    configs = by_name(await describe(world, BROKER, ""))
    assert {name: one.config_source for name, one in configs.items()} == {"log.retention.ms": 3}


async def test_loggers_have_levels(world: World) -> None:
    configs = by_name(
        await describe(world, LOGGER, "0", ["root", "moldau.broker.settings.configs"])
    )
    assert set(configs) == {"root", "moldau.broker.settings.configs"}
    assert configs["root"].config_source == 6


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (TOPIC, "none", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "a/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER, "2", ErrorCode.INVALID_REQUEST),
        (BROKER, "x", ErrorCode.INVALID_REQUEST),
        (LOGGER, "", ErrorCode.INVALID_REQUEST),
        (LOGGER, "2", ErrorCode.INVALID_REQUEST),
        (GROUP, "g", ErrorCode.INVALID_REQUEST),
    ],
)
async def test_what_is_not_there_is_refused(
    world: World, kind: int, name: str, code: ErrorCode
) -> None:
    result = await describe(world, kind, name)
    assert (result.error_code, result.configs) == (code, [])
