"""LeaderAndIsr (key 4): the controller assigns leaders and followers."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import NO_UUID, Int8, Int16, Int32, Int64, Uuid


@struct
class LeaderAndIsrPartitionState:
    topic_name: str = since(0, removed_in=2, default="", ignorable=True)
    partition_index: Int32
    controller_epoch: Int32
    leader: Int32
    leader_epoch: Int32
    isr: list[Int32]
    partition_epoch: Int32
    replicas: list[Int32]
    adding_replicas: list[Int32] = since(3, factory=list, ignorable=True)
    removing_replicas: list[Int32] = since(3, factory=list, ignorable=True)
    is_new: bool = since(1, default=False, ignorable=True)
    leader_recovery_state: Int8 = since(6, default=0)


@struct
class LeaderAndIsrTopicState:
    topic_name: str
    topic_id: Uuid = since(5, default=NO_UUID, ignorable=True)
    partition_states: list[LeaderAndIsrPartitionState]


@struct
class LeaderAndIsrLiveLeader:
    broker_id: Int32
    host_name: str
    port: Int32


@message(api_key=4, versions=range(0, 8), flexible_from=4)
class LeaderAndIsrRequest:
    controller_id: Int32
    is_kraft_controller: bool = since(7, default=False)
    controller_epoch: Int32
    broker_epoch: Int64 = since(2, default=-1, ignorable=True)
    type: Int8 = since(5, default=0)
    ungrouped_partition_states: list[LeaderAndIsrPartitionState] = since(
        0, removed_in=2, factory=list
    )
    topic_states: list[LeaderAndIsrTopicState] = since(2, factory=list)
    live_leaders: list[LeaderAndIsrLiveLeader]


@struct
class LeaderAndIsrPartitionError:
    topic_name: str = since(0, removed_in=5, default="", ignorable=True)
    partition_index: Int32
    error_code: Int16


@struct
class LeaderAndIsrTopicError:
    topic_id: Uuid
    partition_errors: list[LeaderAndIsrPartitionError]


@message(api_key=4, versions=range(0, 8), flexible_from=4)
class LeaderAndIsrResponse:
    error_code: Int16
    partition_errors: list[LeaderAndIsrPartitionError] = since(0, removed_in=5, factory=list)
    topics: list[LeaderAndIsrTopicError] = since(5, factory=list)
