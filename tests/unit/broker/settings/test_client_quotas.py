"""Quotas: what is kept, and how it is found."""

from collections.abc import AsyncIterator

import pytest

from moldau.broker.settings.client_quotas import (
    ClientQuotaStore,
    Entity,
    EntityFilter,
    Match,
    QuotaChange,
)
from moldau.broker.settings.configs import Configs
from moldau.coordination.layout.configs import CHANGES_PATH, ConfigEntity
from moldau.errors import ErrorCode, KafkaError
from unit.broker.world import Setting, broker_world, until

ENTITIES: list[Entity] = [
    {"user": "alice"},
    {"user": None},
    {"client-id": "app"},
    {"user": "alice", "client-id": "app"},
    {"user": "alice", "client-id": None},
    {"ip": "10.0.0.1"},
]


@pytest.fixture
async def store() -> AsyncIterator[ClientQuotaStore]:
    async with broker_world() as world:
        yield world.broker.client_quotas


async def put(store: ClientQuotaStore, entity: Entity, key: str, value: float | None) -> None:
    await store.alter(entity, [QuotaChange(key, value)], is_only_checked=False)


async def put_all(store: ClientQuotaStore) -> None:
    for entity in ENTITIES:
        key = "connection_creation_rate" if "ip" in entity else "producer_byte_rate"
        await put(store, entity, key, 5.0)


async def find(
    store: ClientQuotaStore, *filters: EntityFilter, is_strict: bool = False
) -> list[Entity]:
    return [found.entity for found in await store.find(filters, is_strict=is_strict)]


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    messages = [record.getMessage() for record in caplog.records]
    return [message for message in messages if "no effect" in message]


async def test_the_first_quota_that_is_set_is_told_to_have_no_effect(
    store: ClientQuotaStore, caplog: pytest.LogCaptureFixture
) -> None:
    change = QuotaChange("producer_byte_rate", 5.0)
    await store.alter({"user": "alice"}, [change], is_only_checked=True)
    await put(store, {"user": "alice"}, "producer_byte_rate", None)
    assert told(caplog) == []
    await put_all(store)
    (message,) = told(caplog)
    assert "producer_byte_rate of users/alice" in message


@pytest.mark.parametrize("entity", ENTITIES)
async def test_quotas_that_were_set_before_are_told_at_the_start(
    entity: Entity, caplog: pytest.LogCaptureFixture
) -> None:
    setting = Setting()
    async with broker_world(setting=setting) as world:
        key = "connection_creation_rate" if "ip" in entity else "producer_byte_rate"
        await put(world.broker.client_quotas, entity, key, 5.0)
        for name in await world.tree.children(CHANGES_PATH):
            await world.tree.delete(f"{CHANGES_PATH}/{name}")
        caplog.clear()
    async with broker_world(setting=setting):
        assert len(told(caplog)) == 1


async def test_quotas_that_others_set_are_told_and_passwords_are_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    setting = Setting()
    async with broker_world(setting=setting) as world:
        # As a broker of Apache's, or a tool, does it through ZooKeeper.
        other = Configs(
            setting.ensemble.connect(),
            7,
            {},
            topics=world.broker.topic_configs,
            clock=setting.clock,
        )
        for name, settings in (
            ("anna", {"SCRAM-SHA-256": "salt=x"}),
            ("bert", {"consumer_byte_rate": "5"}),
        ):
            new = settings
            await other.alter(ConfigEntity("users", name), lambda _: new)  # noqa: B023 - at once
        await until(world.broker.waiters, lambda: bool(told(caplog)), "quotas")
    (message,) = told(caplog)
    assert "consumer_byte_rate of users/bert" in message


async def test_without_a_filter_everything_is_found(store: ClientQuotaStore) -> None:
    await put_all(store)
    found = await find(store)
    assert len(found) == len(ENTITIES)
    assert all(entity in found for entity in ENTITIES)


async def test_strictly_an_entity_is_nothing_beside_what_is_asked(store: ClientQuotaStore) -> None:
    await put_all(store)
    alice = EntityFilter("user", Match.EXACT, "alice")
    assert await find(store, alice, is_strict=True) == [{"user": "alice"}]
    assert len(await find(store, alice)) == 3


async def test_defaults_and_any_name_are_told_apart(store: ClientQuotaStore) -> None:
    await put_all(store)
    assert await find(store, EntityFilter("user", Match.DEFAULT, None)) == [{"user": None}]
    found = await find(
        store, EntityFilter("user", Match.ANY, None), EntityFilter("client-id", Match.ANY, None)
    )
    assert found == [ENTITIES[4], ENTITIES[3]]


async def test_a_quota_that_is_taken_away_is_not_found_any_more(store: ClientQuotaStore) -> None:
    await put(store, {"user": "alice"}, "request_percentage", 12.5)
    assert (await store.find([], is_strict=False))[0].values == {"request_percentage": 12.5}
    await put(store, {"user": "alice"}, "request_percentage", None)
    assert await find(store) == []


@pytest.mark.parametrize(
    ("entity", "key", "value"),
    [
        ({}, "producer_byte_rate", 1.0),
        ({"planet": "x"}, "producer_byte_rate", 1.0),
        ({"user": ""}, "producer_byte_rate", 1.0),
        ({"user": "a", "ip": "10.0.0.1"}, "producer_byte_rate", 1.0),
        ({"ip": "not.an.address"}, "connection_creation_rate", 1.0),
        ({"ip": "10.0.0.1"}, "producer_byte_rate", 1.0),
        ({"user": "a"}, "no_such_key", 1.0),
        ({"user": "a"}, "producer_byte_rate", 1.5),
        ({"user": "a"}, "producer_byte_rate", -1.0),
    ],
)
async def test_a_bad_quota_is_refused(
    store: ClientQuotaStore, entity: Entity, key: str, value: float
) -> None:
    with pytest.raises(KafkaError) as refused:
        await put(store, entity, key, value)
    assert refused.value.code == ErrorCode.INVALID_REQUEST
    assert await find(store) == []


@pytest.mark.parametrize(
    ("filters", "code"),
    [
        ([EntityFilter("planet", Match.ANY, None)], ErrorCode.UNSUPPORTED_VERSION),
        ([EntityFilter("user", Match.ANY, None)] * 2, ErrorCode.INVALID_REQUEST),
        (
            [EntityFilter("user", Match.ANY, None), EntityFilter("ip", Match.ANY, None)],
            ErrorCode.INVALID_REQUEST,
        ),
    ],
)
async def test_a_bad_filter_is_refused(
    store: ClientQuotaStore, filters: list[EntityFilter], code: ErrorCode
) -> None:
    with pytest.raises(KafkaError) as refused:
        await store.find(filters, is_strict=False)
    assert refused.value.code == code
