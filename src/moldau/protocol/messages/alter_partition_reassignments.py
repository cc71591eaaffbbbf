"""AlterPartitionReassignments (key 45): start or cancel moves of replicas (KIP-455)."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int16, Int32


@struct
class ReassignablePartition:
    partition_index: Int32
    # None cancels the move.
    replicas: list[Int32] | None = None


@struct
class ReassignableTopic:
    name: str
    partitions: list[ReassignablePartition]


@message(api_key=45, versions=range(0, 1), flexible_from=0)
class AlterPartitionReassignmentsRequest:
    timeout_ms: Int32 = 60000
    topics: list[ReassignableTopic]


@struct
class ReassignablePartitionResponse:
    partition_index: Int32
    error_code: Int16
    error_message: str | None


@struct
class ReassignableTopicResponse:
    name: str
    partitions: list[ReassignablePartitionResponse]


@message(api_key=45, versions=range(0, 1), flexible_from=0)
class AlterPartitionReassignmentsResponse:
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    responses: list[ReassignableTopicResponse]
