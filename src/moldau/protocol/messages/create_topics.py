"""CreateTopics (key 19): create topics."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import NO_UUID, Int8, Int16, Int32, Uuid


@struct
class CreatableReplicaAssignment:
    partition_index: Int32
    broker_ids: list[Int32]


@struct
class CreatableTopicConfig:
    name: str
    value: str | None


@struct
class CreatableTopic:
    name: str
    # -1 if there are assignments, or (from version 4) for the broker's default.
    num_partitions: Int32
    # -1 if there are assignments, or (from version 4) for the broker's default.
    replication_factor: Int16
    assignments: list[CreatableReplicaAssignment]
    configs: list[CreatableTopicConfig]


@message(api_key=19, versions=range(0, 8), flexible_from=5)
class CreateTopicsRequest:
    topics: list[CreatableTopic]
    timeout_ms: Int32 = 60000
    validate_only: bool = since(1, default=False)


@struct
class CreatableTopicConfigs:
    name: str
    value: str | None
    read_only: bool
    config_source: Int8 = -1
    is_sensitive: bool


@struct
class CreatableTopicResult:
    name: str
    topic_id: Uuid = since(7, default=NO_UUID, ignorable=True)
    error_code: Int16
    error_message: str | None = since(1, default="", ignorable=True)
    topic_config_error_code: Int16 = since(5, tag=0, default=0, ignorable=True)
    num_partitions: Int32 = since(5, default=-1, ignorable=True)
    replication_factor: Int16 = since(5, default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = since(5, factory=list, ignorable=True)


@message(api_key=19, versions=range(0, 8), flexible_from=5)
class CreateTopicsResponse:
    throttle_time_ms: Int32 = since(2, default=0, ignorable=True)
    topics: list[CreatableTopicResult]
