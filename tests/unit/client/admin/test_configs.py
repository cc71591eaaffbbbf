"""Settings: shown with where they come from, changed one by one or as a whole."""

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.configs import (
    ConfigChange,
    ConfigOperation,
    ConfigResource,
    ConfigSource,
)
from moldau.errors import BrokerNotAvailable, InvalidConfig
from moldau.protocol.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from unit.client.admin.answering import Answering, admin_of

TOPIC = ConfigResource.topic("t")
BROKER = ConfigResource.broker(0)
ALL_BROKERS = ConfigResource.broker()


async def value(admin: Admin, resource: ConfigResource, name: str) -> str | None:
    found = await admin.describe_configs([resource])
    return found[resource][name].value


async def test_settings_are_shown_with_their_source(admin: Admin) -> None:
    await admin.create_topics(["t"])
    found = await admin.describe_configs([TOPIC, BROKER], include_synonyms=True)
    retention = found[TOPIC]["retention.ms"]
    assert retention.value == "604800000"
    assert retention.is_default
    assert found[BROKER]["log.dirs"].source is ConfigSource.STATIC_BROKER
    assert found[BROKER]["log.dirs"].is_read_only
    assert found[BROKER]["log.dirs"].synonyms[0].name == "log.dirs"


async def test_only_named_settings_are_shown(admin: Admin) -> None:
    await admin.create_topics(["t"])
    found = await admin.describe_configs({TOPIC: ["retention.ms", "segment.ms"]})
    assert set(found[TOPIC]) == {"retention.ms", "segment.ms"}


async def test_single_settings_change_and_others_stay(admin: Admin) -> None:
    await admin.create_topics(["t"])
    (await admin.incremental_alter_configs({TOPIC: {"retention.ms": "5", "flush.ms": "6"}})).check()
    changes = [
        ConfigChange("cleanup.policy", "compact", ConfigOperation.APPEND),
        ConfigChange("flush.ms", operation=ConfigOperation.DELETE),
    ]
    (await admin.incremental_alter_configs({TOPIC: changes})).check()
    found = (await admin.describe_configs([TOPIC]))[TOPIC]
    assert found["retention.ms"].value == "5"
    assert found["retention.ms"].source is ConfigSource.TOPIC
    assert found["flush.ms"].is_default
    assert found["cleanup.policy"].value == "delete,compact"


async def test_none_in_a_mapping_goes_back_to_the_default(admin: Admin) -> None:
    await admin.create_topics(["t"])
    await admin.incremental_alter_configs({TOPIC: {"retention.ms": "5"}})
    (await admin.incremental_alter_configs({TOPIC: {"retention.ms": None}})).check()
    assert await value(admin, TOPIC, "retention.ms") == "604800000"


async def test_replacing_resets_what_is_not_named(admin: Admin) -> None:
    await admin.create_topics(["t"])
    await admin.incremental_alter_configs({TOPIC: {"retention.ms": "5"}})
    (await admin.alter_configs({TOPIC: {"flush.ms": "7"}})).check()
    assert await value(admin, TOPIC, "retention.ms") == "604800000"
    assert await value(admin, TOPIC, "flush.ms") == "7"


async def test_a_wrong_value_fails_for_its_resource_alone(admin: Admin) -> None:
    await admin.create_topics(["t", "u"])
    outcomes = await admin.incremental_alter_configs(
        {TOPIC: {"retention.ms": "soon"}, ConfigResource.topic("u"): {"retention.ms": "5"}}
    )
    with pytest.raises(InvalidConfig):
        outcomes[TOPIC]
    assert outcomes[ConfigResource.topic("u")] is None
    checked = await admin.alter_configs({TOPIC: {"retention.ms": "9"}}, validate_only=True)
    assert checked[TOPIC] is None
    assert await value(admin, TOPIC, "retention.ms") == "604800000"


async def test_all_brokers_have_a_default(admin: Admin) -> None:
    (await admin.incremental_alter_configs({ALL_BROKERS: {"log.retention.ms": "77"}})).check()
    assert await value(admin, ALL_BROKERS, "log.retention.ms") == "77"


async def test_a_broker_that_is_not_there_cannot_say_anything(admin: Admin) -> None:
    outcomes = await admin.describe_configs([ConfigResource.broker(9)])
    with pytest.raises(BrokerNotAvailable, match="no broker 9"):
        outcomes.check()


async def test_old_brokers_only_say_whether_a_value_is_the_default() -> None:
    configs = [
        DescribeConfigsResourceResult(
            name=name, value="1", read_only=False, is_default=is_default, is_sensitive=False
        )
        for name, is_default in (("a", True), ("b", False))
    ]
    result = DescribeConfigsResult(
        error_code=0, error_message=None, resource_type=2, resource_name="t", configs=configs
    )
    answer = DescribeConfigsResponse(throttle_time_ms=0, results=[result])
    broker = Answering(DescribeConfigs=lambda _: answer)
    broker.newest["DescribeConfigs"] = 0
    async with admin_of(broker) as admin:
        found = (await admin.describe_configs([TOPIC]))[TOPIC]
    assert found["a"].is_default
    assert found["b"].source is ConfigSource.UNKNOWN
