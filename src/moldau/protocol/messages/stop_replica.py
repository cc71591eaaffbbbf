"""StopReplica (key 5): the controller makes a broker give up replicas."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@struct
class StopReplicaPartitionV0:
    topic_name: str
    partition_index: Int32


@struct
class StopReplicaTopicV1:
    name: str
    partition_indexes: list[Int32]


@struct
class StopReplicaPartitionState:
    partition_index: Int32
    leader_epoch: Int32 = -1
    delete_partition: bool


@struct
class StopReplicaTopicState:
    topic_name: str
    partition_states: list[StopReplicaPartitionState]


@message(api_key=5, versions=range(0, 5), flexible_from=2)
class StopReplicaRequest:
    controller_id: Int32
    is_kraft_controller: bool = since(4, default=False)
    controller_epoch: Int32
    broker_epoch: Int64 = since(1, default=-1, ignorable=True)
    delete_partitions: bool = since(0, removed_in=3, default=False)
    ungrouped_partitions: list[StopReplicaPartitionV0] = since(0, removed_in=1, factory=list)
    topics: list[StopReplicaTopicV1] = since(1, removed_in=3, factory=list)
    topic_states: list[StopReplicaTopicState] = since(3, factory=list)


@struct
class StopReplicaPartitionError:
    topic_name: str
    partition_index: Int32
    error_code: Int16


@message(api_key=5, versions=range(0, 5), flexible_from=2)
class StopReplicaResponse:
    error_code: Int16
    partition_errors: list[StopReplicaPartitionError]
