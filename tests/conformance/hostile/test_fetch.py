"""Fetches that ask for too much, or for what they may not have."""

import pytest

from conformance.hostile.requests import FRAME_MAX_BYTES, TOPIC, assert_closed
from conformance.our_broker import OurBroker
from moldau.broker.dispatch import ELEMENTS_MAX
from moldau.errors import ErrorCode
from moldau.protocol.messages.fetch import FetchRequest, ForgottenTopic
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.wire import Disconnected, WireClient
from unit.testing.requests import fetch, metadata


def test_fetches_with_odd_limits_are_answered(client: WireClient) -> None:
    for max_bytes in (0, -1, -(2**31), 2**31 - 1):
        request = fetch(TOPIC)
        request.max_bytes = max_bytes
        request.topics[0].partitions[0].partition_max_bytes = max_bytes
        response = client.ask(request, 12)
        assert response.responses[0].partitions[0].error_code == ErrorCode.NONE


@pytest.mark.parametrize("offset", [-1, -2, 2**62, 2**63 - 1, -(2**63)])
def test_an_offset_out_of_range_says_so(client: WireClient, offset: int) -> None:
    response = client.ask(fetch(TOPIC, offset), 12)
    assert response.responses[0].partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_wait_without_end_ends_with_the_connection(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata(TOPIC))
        parked = kafka.look(lambda broker: len(broker.waiters))
        client.send(fetch(TOPIC, 0, max_wait_ms=2**31 - 1, min_bytes=2**31 - 1), 12)
        kafka.wait_for(lambda broker: len(broker.waiters) == parked + 1)
    kafka.wait_for(lambda broker: len(broker.waiters) == parked)


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"moldau.frame.timeout.ms": "1000"}


def test_a_wait_without_end_ends_with_the_connection_of_one_that_sends_on(
    kafka: EmbeddedBroker,
) -> None:
    """The receive buffer is full, and nobody reads that the client has gone."""
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata(TOPIC))
        parked = kafka.look(lambda broker: len(broker.waiters))
        client.send(fetch(TOPIC, 0, max_wait_ms=2**31 - 1, min_bytes=2**31 - 1), 12)
        client.client_id = "x" * 30_000
        for _ in range(3):
            client.send(metadata(TOPIC))
        kafka.wait_for(lambda broker: len(broker.waiters) == parked + 1)
    kafka.wait_for(lambda broker: len(broker.waiters) == parked)
    kafka.wait_for(lambda broker: broker.listeners[0].connection_count == 0)


def test_guessed_sessions_are_refused(client: WireClient) -> None:
    for session_id, epoch, code in [
        (12345, 1, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (-5, 7, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
    ]:
        request = fetch(TOPIC)
        request.session_id, request.session_epoch = session_id, epoch
        assert client.ask(request, 12).error_code == code


def test_a_session_with_very_many_partitions_stays_bounded(client: WireClient) -> None:
    request = fetch(TOPIC)
    partition = request.topics[0].partitions[0]
    request.topics[0].partitions = [
        type(partition)(partition=number, fetch_offset=0, partition_max_bytes=1)
        for number in range(5_000)
    ]
    request.session_id, request.session_epoch = 0, 0
    response = client.ask(request, 12)
    assert len(response.responses[0].partitions) == 5_000


@pytest.mark.parametrize("version", [12, 17])
def test_a_request_for_very_many_unknown_partitions_leaves_nothing_behind(
    client: WireClient, version: int
) -> None:
    """As many as a request may name."""
    request = unknown_partitions(ELEMENTS_MAX - 1_000)
    for _ in range(3):
        response = client.ask(request, version)
        assert response.error_code == ErrorCode.INVALID_REQUEST
        assert response.session_id == 0


def test_a_frame_full_of_unknown_partitions_is_not_read_to_its_end(broker: OurBroker) -> None:
    """As many as a frame holds: the largest allowed has 4 MiB here."""
    for _ in range(3):
        with WireClient(broker.bootstrap) as client:
            client.send(unknown_partitions(FRAME_MAX_BYTES // 34), 12)
            assert_closed(client)


def unknown_partitions(count: int) -> FetchRequest:
    request: FetchRequest = fetch(TOPIC)
    partition = request.topics[0].partitions[0]
    request.topics[0].partitions = [
        type(partition)(partition=number, fetch_offset=0, partition_max_bytes=1)
        for number in range(count)
    ]
    request.session_id, request.session_epoch = 0, 0
    return request


def test_an_unknown_isolation_level_reads_nothing_that_is_not_committed(
    client: WireClient,
) -> None:
    request: FetchRequest = fetch(TOPIC)
    request.isolation_level = 2
    try:
        (partition,) = client.ask(request, 12).responses[0].partitions
    except Disconnected:
        return
    assert partition.error_code == ErrorCode.NONE
    assert partition.records


def test_a_session_that_jumps_or_forgets_what_it_never_had_harms_nobody(
    client: WireClient,
) -> None:
    request = fetch(TOPIC)
    request.session_id, request.session_epoch = 0, 0
    session_id = client.ask(request, 12).session_id
    assert session_id
    for epoch in (0x7FFFFFFF, 7, 2):
        request.session_id, request.session_epoch = session_id, epoch
        response = client.ask(request, 12)
        assert response.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    request.session_epoch = 1
    request.forgotten_topics_data = [
        ForgottenTopic(topic=name, partitions=list(range(1_000)))
        for name in ("other", "", "x" * 99)
    ]
    assert client.ask(request, 12).error_code == ErrorCode.NONE
    request.topics, request.session_epoch = [], 2
    assert client.ask(request, 12).error_code == ErrorCode.NONE


@pytest.mark.parametrize("replica_id", [0, 1, 2**31 - 1])
def test_a_client_that_claims_to_be_a_replica_gets_no_records(
    client: WireClient, replica_id: int
) -> None:
    """It would move high watermarks if it were believed (CVE-2018-1288)."""
    request = fetch(TOPIC, 2**40)
    request.replica_id = replica_id
    (partition,) = client.ask(request, 12).responses[0].partitions
    assert partition.error_code != ErrorCode.NONE
    assert not partition.records
