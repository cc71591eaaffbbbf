"""ListPartitionReassignments (key 46): show moves of replicas that are under way (KIP-455)."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int16, Int32


@struct
class ListPartitionReassignmentsTopics:
    name: str
    partition_indexes: list[Int32]


@message(api_key=46, versions=range(0, 1), flexible_from=0)
class ListPartitionReassignmentsRequest:
    timeout_ms: Int32 = 60000
    # None asks for every move.
    topics: list[ListPartitionReassignmentsTopics] | None = None


@struct
class OngoingPartitionReassignment:
    partition_index: Int32
    replicas: list[Int32]
    adding_replicas: list[Int32]
    removing_replicas: list[Int32]


@struct
class OngoingTopicReassignment:
    name: str
    partitions: list[OngoingPartitionReassignment]


@message(api_key=46, versions=range(0, 1), flexible_from=0)
class ListPartitionReassignmentsResponse:
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    topics: list[OngoingTopicReassignment]
