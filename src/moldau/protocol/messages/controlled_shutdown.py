"""ControlledShutdown (key 7): a broker asks the controller to move its leaderships away.

Version 0 alone of all requests has a version 0 header, without client id.
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@message(api_key=7, versions=range(0, 4), flexible_from=3)
class ControlledShutdownRequest:
    broker_id: Int32
    broker_epoch: Int64 = since(2, default=-1, ignorable=True)


@struct
class RemainingPartition:
    topic_name: str
    partition_index: Int32


@message(api_key=7, versions=range(0, 4), flexible_from=3)
class ControlledShutdownResponse:
    error_code: Int16
    remaining_partitions: list[RemainingPartition]
