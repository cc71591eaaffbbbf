"""UpdateMetadata (key 6): the controller sends brokers the cluster's metadata."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import NO_UUID, Int8, Int16, Int32, Int64, Uuid


@struct
class UpdateMetadataPartitionState:
    topic_name: str = since(0, removed_in=5, default="", ignorable=True)
    partition_index: Int32
    controller_epoch: Int32
    leader: Int32
    leader_epoch: Int32
    isr: list[Int32]
    zk_version: Int32
    replicas: list[Int32]
    offline_replicas: list[Int32] = since(4, factory=list, ignorable=True)


@struct
class UpdateMetadataTopicState:
    topic_name: str
    topic_id: Uuid = since(7, default=NO_UUID, ignorable=True)
    partition_states: list[UpdateMetadataPartitionState]


@struct
class UpdateMetadataEndpoint:
    port: Int32
    host: str
    listener: str = since(3, default="", ignorable=True)
    security_protocol: Int16


@struct
class UpdateMetadataBroker:
    id: Int32
    v0_host: str = since(0, removed_in=1, default="", ignorable=True)
    v0_port: Int32 = since(0, removed_in=1, default=0, ignorable=True)
    endpoints: list[UpdateMetadataEndpoint] = since(1, factory=list, ignorable=True)
    rack: str | None = since(2, default="", ignorable=True)


@message(api_key=6, versions=range(0, 9), flexible_from=6)
class UpdateMetadataRequest:
    controller_id: Int32
    is_kraft_controller: bool = since(8, default=False)
    type: Int8 = since(8, tag=0, default=0)
    controller_epoch: Int32
    broker_epoch: Int64 = since(5, default=-1, ignorable=True)
    ungrouped_partition_states: list[UpdateMetadataPartitionState] = since(
        0, removed_in=5, factory=list
    )
    topic_states: list[UpdateMetadataTopicState] = since(5, factory=list)
    live_brokers: list[UpdateMetadataBroker]


@message(api_key=6, versions=range(0, 9), flexible_from=6)
class UpdateMetadataResponse:
    error_code: Int16
