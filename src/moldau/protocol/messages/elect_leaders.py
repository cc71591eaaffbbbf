"""ElectLeaders (key 43): elect preferred or unclean leaders."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int8, Int16, Int32


@struct
class TopicPartitions:
    topic: str
    partitions: list[Int32]


@message(api_key=43, versions=range(0, 3), flexible_from=2)
class ElectLeadersRequest:
    election_type: Int8 = since(1, default=0)
    # None asks for all partitions.
    topic_partitions: list[TopicPartitions] | None
    timeout_ms: Int32 = 60000


@struct
class PartitionResult:
    partition_id: Int32
    error_code: Int16
    error_message: str | None


@struct
class ReplicaElectionResult:
    topic: str
    partition_result: list[PartitionResult]


@message(api_key=43, versions=range(0, 3), flexible_from=2)
class ElectLeadersResponse:
    throttle_time_ms: Int32
    error_code: Int16 = since(1, default=0)
    replica_election_results: list[ReplicaElectionResult]
