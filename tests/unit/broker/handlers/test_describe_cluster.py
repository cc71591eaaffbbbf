"""DescribeCluster: the brokers and the controller."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from unit.broker.world import CLIENT, World

NEWEST = 1
NOT_ASKED = -(2**31)


async def describe(
    world: World, *, operations: bool = False, endpoint_type: int = 1, version: int = NEWEST
) -> DescribeClusterResponse:
    request = DescribeClusterRequest(
        include_cluster_authorized_operations=operations, endpoint_type=endpoint_type
    )
    response: DescribeClusterResponse = await world.ask(request, version)
    return response


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_the_broker_is_where_the_client_has_reached_it(world: World, version: int) -> None:
    response = await describe(world, version=version)
    assert response.error_code == ErrorCode.NONE
    assert (response.cluster_id, response.controller_id) == (world.broker.cluster_id, 0)
    (broker,) = response.brokers
    assert (broker.broker_id, broker.host, broker.port) == (0, CLIENT.local_host, CLIENT.local_port)


async def test_operations_are_told_when_asked_for(world: World) -> None:
    assert (await describe(world)).cluster_authorized_operations == NOT_ASKED
    # Kafka's number for everything that can be done with a cluster.
    assert (await describe(world, operations=True)).cluster_authorized_operations == 8096


@pytest.mark.parametrize(
    ("endpoint_type", "code"),
    [(2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (9, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)],
)
async def test_this_is_no_endpoint_of_a_controller(
    world: World, endpoint_type: int, code: ErrorCode
) -> None:
    response = await describe(world, endpoint_type=endpoint_type)
    assert (response.error_code, response.brokers) == (code, [])
