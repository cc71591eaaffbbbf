"""Faults on demand: what to do with a request instead of answering it at once."""

import time
from collections.abc import Iterator

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.metadata import MetadataResponse
from moldau.protocol.messages.produce import ProduceResponse
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Call, Delay, Drop, Fail, Lose, Respond
from moldau.testing.wire import Disconnected, WireClient
from unit.testing.requests import batch, metadata, produce


@pytest.fixture
def client(kafka: EmbeddedBroker) -> Iterator[WireClient]:
    with WireClient(kafka.bootstrap_servers, client_id="tester") as client:
        client.ask(metadata("orders"))
        yield client


def error_of(response: ProduceResponse) -> int:
    code: int = response.responses[0].partition_responses[0].error_code
    return code


def test_a_request_can_fail_until_the_control_is_taken_away(
    kafka: EmbeddedBroker, client: WireClient
) -> None:
    release = kafka.control("Produce", lambda _: Fail(ErrorCode.NOT_LEADER_OR_FOLLOWER))
    assert error_of(client.ask(produce("orders", batch(b"a")))) == 6
    release()
    assert error_of(client.ask(produce("orders", batch(b"a")))) == 0
    assert len(kafka.records("orders")[0]) == 1


def test_a_control_sees_who_asks_for_what(kafka: EmbeddedBroker, client: WireClient) -> None:
    calls: list[Call] = []
    kafka.control("Produce", calls.append)
    client.ask(produce("orders", batch(b"a")), 9)
    (call,) = calls
    assert (call.api, call.version, call.client_id) == ("Produce", 9, "tester")
    assert call.request.topic_data[0].name == "orders"


def test_a_request_can_be_dropped_before_it_has_an_effect(
    kafka: EmbeddedBroker, client: WireClient
) -> None:
    kafka.control("Produce", lambda _: Drop())
    with pytest.raises(Disconnected):
        client.ask(produce("orders", batch(b"a")))
    assert kafka.records("orders")[0] == []


def test_an_answer_can_be_lost_after_the_effect(kafka: EmbeddedBroker, client: WireClient) -> None:
    kafka.control("Produce", lambda _: Lose())
    with pytest.raises(Disconnected):
        client.ask(produce("orders", batch(b"a")))
    assert len(kafka.wait_for_records("orders", 1)[0]) == 1


def test_an_answer_can_be_late(kafka: EmbeddedBroker, client: WireClient) -> None:
    kafka.control("Produce", lambda _: Delay(0.05))
    began = time.monotonic()
    assert error_of(client.ask(produce("orders", batch(b"a")))) == 0
    assert time.monotonic() - began >= 0.05


def test_an_answer_can_be_made_up(kafka: EmbeddedBroker, client: WireClient) -> None:
    made_up = MetadataResponse(brokers=[], topics=[], cluster_id="made up")
    kafka.control("Metadata", lambda _: Respond(made_up))
    assert client.ask(metadata("orders")).cluster_id == "made up"


def test_the_newest_control_that_decides_wins(kafka: EmbeddedBroker, client: WireClient) -> None:
    kafka.control("Produce", lambda _: Fail(ErrorCode.INVALID_RECORD))
    kafka.control("Produce", lambda _: Fail(ErrorCode.CORRUPT_MESSAGE))
    kafka.control("Produce", lambda _: None)
    assert error_of(client.ask(produce("orders", batch(b"a")))) == ErrorCode.CORRUPT_MESSAGE


def test_controls_outlive_a_restart(kafka: EmbeddedBroker) -> None:
    kafka.control("Metadata", lambda _: Drop())
    kafka.restart()
    with WireClient(kafka.bootstrap_servers) as again, pytest.raises(Disconnected):
        again.ask(metadata("orders"))


def test_an_unknown_api_is_refused(kafka: EmbeddedBroker) -> None:
    with pytest.raises(ValueError, match="no API is called 'produce'; there is AddOffsetsToTxn"):
        kafka.control("produce", lambda _: None)
