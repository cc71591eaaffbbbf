"""Metrics of quotas: by user and client id, under Kafka's names, and not too many."""

import pytest

from moldau.broker.metrics import quotas as quota_metrics
from moldau.broker.metrics.quotas import register_quota_gauges
from moldau.broker.settings.client_quotas import Entity, QuotaChange
from unit.broker.exposition import families
from unit.broker.sample_requests import fetch, fetch_partition, produce
from unit.broker.world import World, batch_of, broker_world


async def limit(world: World, entity: Entity, **quotas: float) -> None:
    changes = [QuotaChange(key, value) for key, value in quotas.items()]
    await world.broker.client_quotas.alter(entity, changes, is_only_checked=False)


def samples(world: World, name: str) -> dict[str, float]:
    return families(world.broker.metrics.text())[name].samples


async def test_rates_and_waits_are_told_by_user_and_client_id() -> None:
    async with broker_world() as world:
        register_quota_gauges(world.broker)
        await world.create_topic("t")
        await limit(
            world,
            {"user": "ANONYMOUS"},
            producer_byte_rate=10,
            consumer_byte_rate=10,
            request_percentage=5,
            controller_mutation_rate=2,
        )
        told = (await world.ask(produce(batch_of(b"x" * 1000)), 9)).throttle_time_ms
        await world.ask(fetch(fetch_partition()), 11)
        user = '{user="ANONYMOUS",client_id=""}'
        name = "kafka_server_produce_throttle_time"
        assert samples(world, name) == {f"{name}{user}": told}
        for name in ("kafka_server_produce_byte_rate", "kafka_server_fetch_byte_rate"):
            assert samples(world, name)[f"{name}{user}"] > 100
        for name in ("kafka_server_request_request_time", "kafka_server_request_throttle_time"):
            assert samples(world, name) == {f"{name}{user}": 0}
        world.broker.quotas.mutation.of("ANONYMOUS", "c", world.clock.monotonic_ms())
        name = "kafka_server_controllermutation_tokens"
        assert samples(world, name) == {f"{name}{user}": 22}
        name = "kafka_server_produce_throttle_time"
        world.clock.time_ms += 11_000
        assert samples(world, name) == {f"{name}{user}": 0}


async def test_a_client_that_always_changes_its_id_fills_no_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quota_metrics, "CLIENTS_MAX", 3)
    async with broker_world() as world:
        register_quota_gauges(world.broker)
        await limit(world, {"client-id": None}, producer_byte_rate=10)
        for number in range(5):
            await world.ask(produce(batch_of(b"x")), 9, client_id=str(number))
        name = "kafka_server_produce_byte_rate"
        assert list(samples(world, name)) == [
            f'{name}{{user="",client_id="{number}"}}' for number in (4, 3, 2)
        ]
