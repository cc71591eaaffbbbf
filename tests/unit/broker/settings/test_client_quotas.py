"""Quotas: what is kept, and how it is found."""

from collections.abc import AsyncIterator, Mapping
from math import inf, nan
from re import escape

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
from unit.broker.world import Setting, World, broker_world, until

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


def limit(world: World, client_id: str = "app", user: str = "ANONYMOUS") -> float | None:
    """What a client may produce."""
    found = world.broker.quotas.produce.levels.find(user, client_id)
    return None if found is None else found.quota


async def test_a_quota_holds_as_soon_as_it_is_set_and_no_longer_than_it_is() -> None:
    async with broker_world() as world:
        store = world.broker.client_quotas
        change = QuotaChange("producer_byte_rate", 5.0)
        await store.alter({"client-id": "app"}, [change], is_only_checked=True)
        assert (limit(world), world.broker.quotas.is_set) == (None, False)
        await put(store, {"client-id": "app"}, "producer_byte_rate", 5.0)
        assert (limit(world), world.broker.quotas.is_set) == (5, True)
        await put(store, {"client-id": "app"}, "producer_byte_rate", None)
        assert (limit(world), world.broker.quotas.is_set) == (None, False)


@pytest.mark.parametrize("entity", ENTITIES)
async def test_quotas_that_were_set_before_hold_from_the_start(entity: Entity) -> None:
    setting = Setting()
    async with broker_world(setting=setting) as world:
        key = "connection_creation_rate" if "ip" in entity else "producer_byte_rate"
        await put(world.broker.client_quotas, entity, key, 0.0 if "ip" in entity else 5.0)
        for name in await world.tree.children(CHANGES_PATH):
            await world.tree.delete(f"{CHANGES_PATH}/{name}")
    async with broker_world(setting=setting) as world:
        if "ip" in entity:
            assert world.broker.quotas.connections.delay_s("10.0.0.1", 0) == 1
        else:
            assert limit(world, user="alice") == 5


async def alter_elsewhere(
    world: World, setting: Setting, entity: ConfigEntity, settings: Mapping[str, str]
) -> None:
    """Change settings as a broker of Apache's, or a tool, does it through ZooKeeper."""
    tree = setting.ensemble.connect()
    other = Configs(tree, 7, {}, topics=world.broker.topic_configs)
    await other.alter(entity, lambda _: settings)


async def test_quotas_that_others_set_and_take_away_hold_here() -> None:
    setting = Setting()
    async with broker_world(setting=setting) as world:
        anna = ConfigEntity("users", "anna")
        password = {"SCRAM-SHA-256": "salt=x"}
        quota = {"producer_byte_rate": "7"}
        await alter_elsewhere(world, setting, anna, {**password, **quota})
        waiters = world.broker.waiters
        await until(waiters, lambda: limit(world, user="anna") == 7, "quotas")
        await alter_elsewhere(world, setting, anna, password)
        await until(waiters, lambda: limit(world, user="anna") is None, "quotas")


async def test_the_quota_of_a_host_that_others_set_holds_for_its_addresses() -> None:
    setting = Setting()
    async with broker_world(setting=setting) as world:
        host = ConfigEntity("ips", "localhost")
        connections = world.broker.quotas.connections

        async def until_kept(delay_s: float) -> None:
            await until(
                world.broker.waiters, lambda: connections.delay_s("127.0.0.1", 0) == delay_s, "q"
            )

        await alter_elsewhere(world, setting, host, {"connection_creation_rate": "0"})
        await until_kept(1.0)
        await alter_elsewhere(world, setting, host, {})
        await until_kept(0.0)


@pytest.mark.parametrize("text", ["0", "-1", "lots", "1.5"])
async def test_what_is_no_quota_limits_nobody_and_is_told(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Apache's brokers store a quota of 0, and throttle nobody by it."""
    setting = Setting()
    async with broker_world(setting=setting) as world:
        await put(world.broker.client_quotas, {"client-id": None}, "producer_byte_rate", 5.0)
        client = ConfigEntity("clients", "app")
        await alter_elsewhere(world, setting, client, {"producer_byte_rate": text})
        await until(world.broker.waiters, lambda: limit(world) == inf, "quotas")
        assert limit(world, "other") == 5
        assert world.broker.quotas.produce.of("ANONYMOUS", "app", 0) is None
    assert "Ignored a quota of clients/app" in caplog.text


async def test_passwords_in_the_same_node_stay() -> None:
    async with broker_world() as world:
        entity = ConfigEntity("users", "anna")
        await world.broker.configs.alter(entity, lambda _: {"SCRAM-SHA-256": "salt=x"})
        store = world.broker.client_quotas
        await put(store, {"user": "anna"}, "request_percentage", 50.5)
        texts = await world.broker.configs.read(entity)
        assert texts == {"SCRAM-SHA-256": "salt=x", "request_percentage": "50.5"}
        assert (await store.find([], is_strict=False))[0].values == {"request_percentage": 50.5}
        await put(store, {"user": "anna"}, "request_percentage", None)
        assert await world.broker.configs.read(entity) == {"SCRAM-SHA-256": "salt=x"}


async def test_a_node_with_nothing_left_is_gone_with_those_above_it() -> None:
    async with broker_world() as world:
        store, tree = world.broker.client_quotas, world.tree
        both: Entity = {"user": "anna", "client-id": "app"}
        await put(store, both, "producer_byte_rate", 5.0)
        await put(store, {"user": "anna"}, "producer_byte_rate", 5.0)
        await put(store, {"user": "anna"}, "producer_byte_rate", None)
        assert await find(store) == [both]
        await put(store, both, "producer_byte_rate", None)
        assert await tree.children("/config/users") == []


async def test_names_are_encoded_and_doubles_written_as_java_does() -> None:
    async with broker_world() as world:
        store = world.broker.client_quotas
        user = "CN=x y,O=*"
        await put(store, {"user": user, "client-id": None}, "request_percentage", 2.0)
        await put(store, {"user": user, "client-id": None}, "controller_mutation_rate", 2e7)
        await put(store, {"user": user, "client-id": None}, "producer_byte_rate", 2e7)
        path = "/config/users/CN%3Dx%20y%2CO%3D%2A/clients/<default>"
        data = (await world.tree.get(path)).data.decode()
        assert '"request_percentage":"2.0"' in data
        assert '"controller_mutation_rate":"2.0E7"' in data
        assert '"producer_byte_rate":"20000000"' in data
        assert await find(store) == [{"user": user, "client-id": None}]


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


COMBINED = (
    "Invalid quota entity combination, IP entity should not be used with user/client ID entity."
)
COMBINED_FILTERS = (
    "Invalid entity filter component combination, IP filter component should not be used with "
    "user or clientId filter component."
)
NOT_A_LONG = "Configuration producer_byte_rate must be a LONG value"


@pytest.mark.parametrize(
    ("entity", "key", "value", "message"),
    [
        ({}, "producer_byte_rate", 1.0, "Invalid empty client quota entity"),
        (
            {"bogus": "x"},
            "producer_byte_rate",
            1.0,
            "Unhandled client quota entity type: bogus",
        ),
        ({"user": ""}, "producer_byte_rate", 1.0, "Empty user not supported"),
        ({"client-id": ""}, "producer_byte_rate", 1.0, "Empty client-id not supported"),
        (
            {"user": "a", "ip": "10.0.0.1"},
            "producer_byte_rate",
            1.0,
            COMBINED,
        ),
        (
            {"ip": "no.such.host.invalid"},
            "connection_creation_rate",
            1.0,
            "no.such.host.invalid is not a valid IP or resolvable host.",
        ),
        (
            {"ip": "10.0.0.1"},
            "producer_byte_rate",
            1.0,
            "Invalid configuration key producer_byte_rate",
        ),
        ({"user": "a"}, "no_such_key", 1.0, "Invalid configuration key no_such_key"),
        ({"user": "a"}, "producer_byte_rate", 1.5, NOT_A_LONG),
        ({"user": "a"}, "producer_byte_rate", -1.0, NOT_A_LONG),
        ({"user": "a"}, "producer_byte_rate", -2.0, NOT_A_LONG),
        ({"user": "a"}, "producer_byte_rate", inf, NOT_A_LONG),
        ({"user": "a"}, "producer_byte_rate", nan, NOT_A_LONG),
        ({"user": "a"}, "request_percentage", nan, "must be a number"),
        ({"user": "a"}, "request_percentage", -1.0, "must be greater than 0"),
        ({"user": "a"}, "producer_byte_rate", 0.0, "producer_byte_rate=0 is refused"),
        ({"user": "a"}, "request_percentage", 0.0, "request_percentage=0 is refused"),
        ({"user": "a"}, "controller_mutation_rate", 0.0, "controller_mutation_rate=0 is refused"),
        ({"user": "a"}, "producer_byte_rate", 1e300, "Invalid value"),
    ],
)
async def test_a_bad_quota_is_refused(
    store: ClientQuotaStore, entity: Entity, key: str, value: float, message: str
) -> None:
    with pytest.raises(KafkaError, match=escape(message)) as refused:
        await put(store, entity, key, value)
    assert refused.value.code == ErrorCode.INVALID_REQUEST
    assert await find(store) == []


async def test_what_cannot_be_set_can_be_taken_away(store: ClientQuotaStore) -> None:
    await put(store, {"user": "a"}, "no_such_key", None)


async def test_a_rate_may_miss_a_whole_number_by_a_little(store: ClientQuotaStore) -> None:
    await put(store, {"user": "a"}, "producer_byte_rate", 2.9999999)
    assert (await store.find([], is_strict=False))[0].values == {"producer_byte_rate": 3}


def ask(*types: str) -> list[EntityFilter]:
    return [EntityFilter(kind, Match.ANY, None) for kind in types]


@pytest.mark.parametrize(
    ("filters", "code", "message"),
    [
        (ask("x"), ErrorCode.UNSUPPORTED_VERSION, "Custom entity type 'x' not supported"),
        (ask(""), ErrorCode.INVALID_REQUEST, "Unexpected empty filter component entity type"),
        (ask("user", "user"), ErrorCode.INVALID_REQUEST, "Duplicate user filter component entity"),
        (
            ask("client-id", "client-id"),
            ErrorCode.INVALID_REQUEST,
            "Duplicate client filter component entity type",
        ),
        (ask("ip", "ip"), ErrorCode.INVALID_REQUEST, "Duplicate ip filter component entity type"),
        (
            ask("user", "ip"),
            ErrorCode.INVALID_REQUEST,
            COMBINED_FILTERS,
        ),
    ],
)
async def test_a_bad_filter_is_refused(
    store: ClientQuotaStore, filters: list[EntityFilter], code: ErrorCode, message: str
) -> None:
    with pytest.raises(KafkaError, match=escape(message)) as refused:
        await store.find(filters, is_strict=False)
    assert refused.value.code == code
