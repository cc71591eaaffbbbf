"""Settings that change while the broker runs."""

import pytest

from moldau.broker.settings.reconfiguration import reconfigure
from moldau.config.effective import BrokerLayers
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.wire import WireClient
from unit.broker.world import broker_world
from unit.testing.requests import metadata


async def test_producers_are_forgotten_after_the_time_that_is_set_last() -> None:
    async with broker_world() as world:
        reconfigure(world.broker, BrokerLayers({}, cluster={"producer.id.expiration.ms": "5000"}))
        for directory in world.broker.logs.directories:
            assert directory.shared.producer_expiration_ms == 5_000


async def test_listeners_that_do_not_change_while_the_broker_runs_are_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with broker_world() as world:
        told = {"advertised.listeners": "PLAINTEXT://elsewhere:9092"}
        reconfigure(world.broker, BrokerLayers({}, broker=told))
    assert "advertised.listeners is only read at start" in caplog.text


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"max.connections": "1"}


def test_who_waits_for_room_comes_in_when_there_is_more(kafka: EmbeddedBroker) -> None:
    with (
        WireClient(kafka.bootstrap_servers) as first,
        WireClient(kafka.bootstrap_servers) as second,
    ):
        first.ask(metadata("orders"))
        second.send(metadata("orders"))
        layers = BrokerLayers({}, cluster={"max.connections": "2"})
        kafka.look(lambda broker: reconfigure(broker, layers))
        assert second.receive_frame()
