"""The coordinator is found, and found again."""

from collections.abc import AsyncIterator

import pytest

from moldau.client.connection.cluster import Cluster
from moldau.client.group.coordinator import TRANSACTION, Coordinator
from moldau.client.settings import ClientSettings
from moldau.errors import ErrorCode, GroupAuthorizationFailed
from moldau.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Call, Fail

HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="nobody")


@pytest.fixture
async def coordinator(kafka: EmbeddedBroker) -> AsyncIterator[Coordinator]:
    cluster = Cluster(ClientSettings(bootstrap_servers=kafka.bootstrap_servers))
    await cluster.refresh()
    yield Coordinator(cluster, "g")
    cluster.close()


async def test_it_is_looked_for_once_until_it_is_forgotten(
    kafka: EmbeddedBroker, coordinator: Coordinator
) -> None:
    calls: list[Call] = []
    kafka.control("FindCoordinator", calls.append)
    for _ in range(2):
        answer = await coordinator.ask(HEARTBEAT, HeartbeatResponse)
        assert answer.error_code in (
            ErrorCode.UNKNOWN_MEMBER_ID,
            ErrorCode.COORDINATOR_NOT_AVAILABLE,
            ErrorCode.NOT_COORDINATOR,
        )
    found = len(calls)
    coordinator.forget()
    await coordinator.ask(HEARTBEAT, HeartbeatResponse)
    assert len(calls) == found + 1


async def test_a_refusal_is_raised(kafka: EmbeddedBroker, coordinator: Coordinator) -> None:
    kafka.control("FindCoordinator", lambda _: Fail(ErrorCode.GROUP_AUTHORIZATION_FAILED))
    with pytest.raises(GroupAuthorizationFailed, match="g has no coordinator"):
        await coordinator.ask(HEARTBEAT, HeartbeatResponse)


async def test_its_versions_can_be_asked_for(coordinator: Coordinator) -> None:
    assert await coordinator.newest_version(12) == 4


async def test_transactional_ids_have_coordinators_too(
    kafka: EmbeddedBroker, coordinator: Coordinator
) -> None:
    calls: list[Call] = []
    kafka.control("FindCoordinator", calls.append)
    of_transactions = Coordinator(coordinator.cluster, "id", TRANSACTION)
    assert await of_transactions.newest_version(26) == 4
    assert (calls[0].request.key, calls[0].request.key_type) == ("id", TRANSACTION)
