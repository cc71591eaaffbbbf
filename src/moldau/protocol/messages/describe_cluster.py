"""DescribeCluster (key 60): show the brokers, the controller and the cluster's id (KIP-700)."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int8, Int16, Int32


@message(api_key=60, versions=range(0, 2), flexible_from=0)
class DescribeClusterRequest:
    include_cluster_authorized_operations: bool
    endpoint_type: Int8 = since(1, default=1)


@struct
class DescribeClusterBroker:
    broker_id: Int32
    host: str
    port: Int32
    rack: str | None = None


@message(api_key=60, versions=range(0, 2), flexible_from=0)
class DescribeClusterResponse:
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None = None
    endpoint_type: Int8 = since(1, default=1)
    cluster_id: str
    controller_id: Int32 = -1
    brokers: list[DescribeClusterBroker]
    cluster_authorized_operations: Int32 = -(2**31)
