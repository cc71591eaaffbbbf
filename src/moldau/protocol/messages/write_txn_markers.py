"""WriteTxnMarkers (key 27): write the outcome of transactions into partitions."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@struct
class WritableTxnMarkerTopic:
    name: str
    partition_indexes: list[Int32]


@struct
class WritableTxnMarker:
    producer_id: Int64
    producer_epoch: Int16
    transaction_result: bool
    topics: list[WritableTxnMarkerTopic]
    coordinator_epoch: Int32


@message(api_key=27, versions=range(0, 2), flexible_from=1)
class WriteTxnMarkersRequest:
    markers: list[WritableTxnMarker]


@struct
class WritableTxnMarkerPartitionResult:
    partition_index: Int32
    error_code: Int16


@struct
class WritableTxnMarkerTopicResult:
    name: str
    partitions: list[WritableTxnMarkerPartitionResult]


@struct
class WritableTxnMarkerResult:
    producer_id: Int64
    topics: list[WritableTxnMarkerTopicResult]


@message(api_key=27, versions=range(0, 2), flexible_from=1)
class WriteTxnMarkersResponse:
    markers: list[WritableTxnMarkerResult]
