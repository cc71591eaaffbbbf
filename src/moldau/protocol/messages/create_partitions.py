"""CreatePartitions (key 37): add partitions to topics."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int16, Int32


@struct
class CreatePartitionsAssignment:
    broker_ids: list[Int32]


@struct
class CreatePartitionsTopic:
    name: str
    # The new total, not the number to add.
    count: Int32
    assignments: list[CreatePartitionsAssignment] | None


@message(api_key=37, versions=range(0, 4), flexible_from=2)
class CreatePartitionsRequest:
    topics: list[CreatePartitionsTopic]
    timeout_ms: Int32
    validate_only: bool


@struct
class CreatePartitionsTopicResult:
    name: str
    error_code: Int16
    error_message: str | None = None


@message(api_key=37, versions=range(0, 4), flexible_from=2)
class CreatePartitionsResponse:
    throttle_time_ms: Int32
    results: list[CreatePartitionsTopicResult]
