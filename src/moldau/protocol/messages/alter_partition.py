"""AlterPartition (key 56): a leader asks the controller to change the ISR (KIP-497)."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import NO_UUID, Int8, Int16, Int32, Int64, Uuid


@struct
class BrokerState:
    broker_id: Int32
    broker_epoch: Int64 = -1


@struct
class RequestPartitionData:
    partition_index: Int32
    leader_epoch: Int32
    new_isr: list[Int32] = since(0, removed_in=3, factory=list)
    new_isr_with_epochs: list[BrokerState] = since(3, factory=list)
    leader_recovery_state: Int8 = since(1, default=0)
    partition_epoch: Int32


@struct
class RequestTopicData:
    topic_name: str = since(0, removed_in=2, default="", ignorable=True)
    topic_id: Uuid = since(2, default=NO_UUID, ignorable=True)
    partitions: list[RequestPartitionData]


@message(api_key=56, versions=range(0, 4), flexible_from=0)
class AlterPartitionRequest:
    broker_id: Int32
    broker_epoch: Int64 = -1
    topics: list[RequestTopicData]


@struct
class ResponsePartitionData:
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32
    isr: list[Int32]
    leader_recovery_state: Int8 = since(1, default=0, ignorable=True)
    partition_epoch: Int32


@struct
class ResponseTopicData:
    topic_name: str = since(0, removed_in=2, default="", ignorable=True)
    topic_id: Uuid = since(2, default=NO_UUID, ignorable=True)
    partitions: list[ResponsePartitionData]


@message(api_key=56, versions=range(0, 4), flexible_from=0)
class AlterPartitionResponse:
    throttle_time_ms: Int32
    error_code: Int16
    topics: list[ResponseTopicData]
