"""Whether a broker serves, and if not, why."""

import pytest

from moldau.broker.broker import Broker
from moldau.broker.membership.state import BrokerState
from moldau.broker.metrics.health import Health
from moldau.testing.broker import EmbeddedBroker


def reason_of(broker: Broker) -> str:
    health = Health()
    health.broker = broker
    return health.reason()


def test_before_there_is_a_broker_it_starts() -> None:
    health = Health()
    pages = health.pages()
    assert health.reason() == "the broker is starting"
    assert pages["/metrics"].unavailable() == "the broker is starting"
    assert pages["/health"].unavailable() == "the broker is starting"
    assert pages["/readyz"].unavailable() == "the broker is starting"
    for path in ("/healthz", "/health/live"):
        assert pages[path].unavailable() == ""


def test_a_broker_that_serves_is_well(kafka: EmbeddedBroker) -> None:
    health = Health()
    health.broker = kafka.running.broker
    pages = health.pages()
    for path in ("/healthz", "/readyz", "/health", "/health/ready", "/health/live"):
        page = pages[path]
        assert page.unavailable() == ""
        assert list(page.lines()) == ["ok\n"]
    assert "partitioncount" in kafka.look(lambda _: "".join(pages["/metrics"].lines()))


@pytest.mark.parametrize("state", [BrokerState.HANDING_OVER, BrokerState.STOPPING])
def test_a_broker_that_stops_says_so_and_still_has_metrics(
    kafka: EmbeddedBroker, state: BrokerState
) -> None:
    health = Health()
    health.broker = kafka.running.broker
    health.broker.state = state
    assert health.reason().startswith("the broker is stopping")
    assert health.pages()["/metrics"].unavailable() == ""


def test_a_directory_that_has_failed_is_named(kafka: EmbeddedBroker) -> None:
    def fail_and_look(broker: Broker) -> str:
        volume = broker.logs.directories[0].volume
        volume.failure = OSError("the cable is out")
        reason = reason_of(broker)
        volume.failure = None
        return reason

    told = f"log directory {kafka.directory} is offline: the cable is out"
    assert kafka.look(fail_and_look) == told


def test_a_broker_whose_session_is_lost_is_not_registered(kafka: EmbeddedBroker) -> None:
    """See `test_membership` for when that is so."""

    def lose_and_look(broker: Broker) -> str:
        broker.registration.is_current = False
        reason = reason_of(broker)
        broker.registration.is_current = True
        return reason

    told = "broker 0 is not registered: its session with ZooKeeper was lost"
    assert kafka.look(lose_and_look) == told


def test_a_broker_that_the_controller_does_not_know_is_not_sent_clients(
    kafka: EmbeddedBroker,
) -> None:
    def forget_and_look(broker: Broker) -> str:
        image = broker.metadata.image
        broker.metadata.image = type(image)()
        reason = reason_of(broker)
        broker.metadata.image = image
        return reason

    assert "controller does not count it in" in kafka.look(forget_and_look)
