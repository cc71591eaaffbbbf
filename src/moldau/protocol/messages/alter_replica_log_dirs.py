"""AlterReplicaLogDirs (key 34): move replicas between directories of a broker."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int16, Int32


@struct
class AlterReplicaLogDirTopic:
    name: str
    partitions: list[Int32]


@struct
class AlterReplicaLogDir:
    path: str
    topics: list[AlterReplicaLogDirTopic]


@message(api_key=34, versions=range(0, 3), flexible_from=2)
class AlterReplicaLogDirsRequest:
    dirs: list[AlterReplicaLogDir]


@struct
class AlterReplicaLogDirPartitionResult:
    partition_index: Int32
    error_code: Int16


@struct
class AlterReplicaLogDirTopicResult:
    topic_name: str
    partitions: list[AlterReplicaLogDirPartitionResult]


@message(api_key=34, versions=range(0, 3), flexible_from=2)
class AlterReplicaLogDirsResponse:
    throttle_time_ms: Int32
    results: list[AlterReplicaLogDirTopicResult]
