"""DescribeCluster (key 60): show the brokers, the controller and the cluster's id.

The API comes from KIP-700, and is flexible from the start. Version 1 asks for the endpoints of
brokers or of controllers (KIP-919).
"""

from moldau.broker.authorized import operations_of_cluster
from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.membership.advertised import advertised_endpoint
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

BROKERS = 1
CONTROLLERS = 2


async def handle(
    request: DescribeClusterRequest, context: Context, broker: Broker
) -> DescribeClusterResponse:
    _require_brokers(request.endpoint_type)
    image = broker.metadata.image
    brokers = []
    for node in image.brokers.values():
        endpoint = advertised_endpoint(node, context.client)
        if endpoint is not None:
            brokers.append(
                DescribeClusterBroker(
                    broker_id=node.id, host=endpoint.host, port=endpoint.port, rack=node.rack
                )
            )
    response = DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        cluster_id=broker.cluster_id,
        controller_id=image.controller_id,
        brokers=brokers,
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = operations_of_cluster(broker.authorizer, context)
    return response


def _require_brokers(endpoint_type: int) -> None:
    if endpoint_type == CONTROLLERS:
        message = "this is an endpoint of a broker, the request wants one of a controller"
        raise KafkaError(ErrorCode.MISMATCHED_ENDPOINT_TYPE, message)
    if endpoint_type != BROKERS:
        message = f"Unsupported endpoint type {endpoint_type}"
        raise KafkaError(ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, message)
