"""Brokers by number, metadata kept fresh, and errors that say what was tried."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moldau.client.connection.cluster import Cluster
from moldau.client.settings import ClientSettings
from moldau.errors import (
    ErrorCode,
    InvalidTopicException,
    NetworkException,
    UnknownTopicOrPartition,
)
from moldau.model import TopicPartition
from moldau.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Call, Drop
from unit.client.older_metadata import speak_older_metadata
from unit.client.scripted import scripted_broker

NODE = 0


@pytest.fixture
async def cluster(kafka: EmbeddedBroker) -> AsyncIterator[Cluster]:
    settings = ClientSettings(bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=5)
    cluster = Cluster(settings)
    await cluster.refresh()
    yield cluster
    cluster.close()


async def test_a_topic_is_found_with_its_leader(cluster: Cluster) -> None:
    await cluster.wait_for_topic("orders", timeout_s=10)
    assert cluster.metadata.leader_of(TopicPartition("orders", 0)) in cluster.metadata.brokers


async def test_a_topic_that_may_not_be_created_is_not_found(kafka: EmbeddedBroker) -> None:
    settings = ClientSettings(bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=5)
    cluster = Cluster(settings, creates_topics=False)
    with pytest.raises(UnknownTopicOrPartition, match="orders was not found"):
        await cluster.wait_for_topic("orders", timeout_s=0.1)
    cluster.close()


@pytest.mark.parametrize("version", [0, 1, 3])
async def test_a_broker_that_would_create_it_is_asked_for_all_topics(
    kafka: EmbeddedBroker, cluster: Cluster, version: int
) -> None:
    await cluster.wait_for_topic("there", timeout_s=10)
    speak_older_metadata(kafka, version)
    settings = ClientSettings(bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=5)
    reader = Cluster(settings, creates_topics=False)
    await reader.refresh()
    assert list(reader.metadata.topics) == []
    assert await reader.missing(["there", "typo"]) == ["typo"]
    assert list(reader.metadata.topics) == ["there", "typo"]
    assert kafka.look(lambda broker: list(broker.metadata.image.topics)) == ["there"]
    reader.close()


async def test_a_reader_does_not_wait_long_for_what_is_not_there(kafka: EmbeddedBroker) -> None:
    settings = ClientSettings(bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=5)
    cluster = Cluster(settings, creates_topics=False)
    with pytest.raises(UnknownTopicOrPartition, match="there is no topic typo"):
        await cluster.require_topic("typo", timeout_s=1000)
    cluster.close()


async def test_if_nobody_answers_that_is_why_a_topic_is_not_found() -> None:
    settings = ClientSettings(bootstrap_servers="127.0.0.1:1", retry_backoff_ms=5)
    cluster = Cluster(settings)
    with pytest.raises(NetworkException, match=r"topic orders.*0\.05 s.*127\.0\.0\.1:1"):
        await cluster.wait_for_topic("orders", timeout_s=0.05)


async def test_topics_that_are_not_there_are_told_apart(
    kafka: EmbeddedBroker, cluster: Cluster
) -> None:
    assert await cluster.missing(["created"]) == []
    settings = ClientSettings(bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=5)
    other = Cluster(settings, creates_topics=False)
    assert await other.missing(["created", "absent"]) == ["absent"]
    with pytest.raises(InvalidTopicException):
        await other.missing(["created", "not a topic"])
    other.close()


async def test_a_name_that_no_topic_can_have_fails_at_once(cluster: Cluster) -> None:
    with pytest.raises(InvalidTopicException):
        await cluster.wait_for_topic("not a topic", timeout_s=60)


async def test_a_broker_is_asked_in_a_version_that_it_speaks(cluster: Cluster) -> None:
    (node_id,) = cluster.metadata.brokers
    answer = await cluster.ask(node_id, ListGroupsRequest(), ListGroupsResponse)
    assert answer.error_code == ErrorCode.NONE
    assert await cluster.ask_any(ListGroupsRequest(), ListGroupsResponse) == answer


async def test_channels_are_connections_of_their_own(cluster: Cluster) -> None:
    (node_id,) = cluster.metadata.brokers
    plain, fetching = await asyncio.gather(cluster.broker(node_id), cluster.broker(node_id, "f"))
    assert plain.connection is not fetching.connection
    assert await cluster.broker(node_id, "f") is fetching


async def test_a_broker_is_connected_to_again_after_a_failure(
    kafka: EmbeddedBroker, cluster: Cluster
) -> None:
    calls: list[Call] = []

    def drop_first(call: Call) -> Drop | None:
        calls.append(call)
        return Drop() if len(calls) == 1 else None

    kafka.control("ListGroups", drop_first)
    (node_id,) = cluster.metadata.brokers
    with pytest.raises(NetworkException, match="closed the connection"):
        await cluster.ask(node_id, ListGroupsRequest(), ListGroupsResponse)
    await cluster.ask(node_id, ListGroupsRequest(), ListGroupsResponse)
    assert len(calls) == 2


async def test_metadata_is_asked_for_again_only_when_in_doubt(
    kafka: EmbeddedBroker, cluster: Cluster
) -> None:
    await cluster.wait_for_topic("orders", timeout_s=10)
    calls: list[Call] = []
    kafka.control("Metadata", calls.append)
    await cluster.refresh_if_stale()
    assert not calls
    cluster.metadata.doubt(TopicPartition("orders", 0))
    await cluster.refresh_if_stale()
    assert len(calls) == 1


async def test_a_broker_that_is_gone_is_an_error(cluster: Cluster) -> None:
    with pytest.raises(NetworkException, match="broker 77"):
        await cluster.broker(77)


async def test_if_nobody_answers_the_error_names_all_that_were_tried() -> None:
    cluster = Cluster(ClientSettings(bootstrap_servers="127.0.0.1:1,127.0.0.1:2"))
    with pytest.raises(NetworkException, match=r"127\.0\.0\.1:1.*127\.0\.0\.1:2"):
        await cluster.refresh()


async def test_a_closed_cluster_opens_nothing(cluster: Cluster) -> None:
    cluster.close()
    with pytest.raises(NetworkException, match="closed"):
        await cluster.refresh()


async def test_a_topic_can_be_forgotten(cluster: Cluster) -> None:
    await cluster.wait_for_topic("orders", timeout_s=10)
    cluster.forget_topic("orders")
    assert cluster.metadata.partitions_of("orders") == []


async def test_addresses_that_say_nothing_are_given_up_in_time() -> None:
    async with scripted_broker(lambda _: b"") as silent:
        other = f"127.0.0.1:{silent.port},localhost:{silent.port}"
        cluster = Cluster(ClientSettings(bootstrap_servers=other, request_timeout_ms=100))
        with pytest.raises(NetworkException) as raised:
            await cluster.refresh()
        for name in ("127.0.0.1", "localhost"):
            assert f"{name}:{silent.port}: no answer in 0.0" in str(raised.value)
        cluster.close()


async def test_after_one_that_says_nothing_there_is_time_for_the_next(
    kafka: EmbeddedBroker,
) -> None:
    async with scripted_broker(lambda _: b"") as silent:
        servers = f"{silent},{kafka.bootstrap_servers}"
        cluster = Cluster(ClientSettings(bootstrap_servers=servers, request_timeout_ms=1000))
        await cluster.refresh()
        assert len(cluster.metadata.brokers) == 1
        cluster.close()


async def test_an_address_that_failed_is_tried_later_than_others(kafka: EmbeddedBroker) -> None:
    settings = ClientSettings(
        bootstrap_servers=f"127.0.0.1:1,{kafka.bootstrap_servers}", reconnect_backoff_ms=600_000
    )
    cluster = Cluster(settings)
    async with asyncio.timeout(60):
        await cluster.refresh()
        cluster.metadata.brokers.clear()  # so that the addresses in the settings are asked again
        for broker in cluster._open.values():
            broker.connection.close()
        await cluster.refresh()
    cluster.close()


async def test_whoever_waits_in_vain_hears_what_went_wrong_before() -> None:
    settings = ClientSettings(
        bootstrap_servers="127.0.0.1:1", reconnect_backoff_ms=600_000, request_timeout_ms=50
    )
    cluster = Cluster(settings)
    for _ in range(2):
        with pytest.raises(NetworkException, match=r"tried .*(Connect call failed|refused)"):
            await cluster.refresh()
    cluster.close()
