"""Where a broker is in its life."""

from moldau.broker.membership.state import BrokerState
from moldau.testing.broker import EmbeddedBroker


def test_states_have_the_numbers_of_kafkas_metric() -> None:
    assert dict(BrokerState.__members__) == {
        "STARTING": 1,
        "RUNNING": 3,
        "HANDING_OVER": 6,
        "STOPPING": 7,
    }


def test_a_broker_that_serves_runs_and_one_that_has_ended_has_stopped(
    kafka: EmbeddedBroker,
) -> None:
    broker = kafka.running.broker
    states = [broker.state]
    kafka.stop()
    assert [*states, broker.state] == [BrokerState.RUNNING, BrokerState.STOPPING]
