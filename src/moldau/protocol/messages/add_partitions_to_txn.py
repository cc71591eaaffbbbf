"""AddPartitionsToTxn (key 24): add partitions to a transaction, or check that they are in it.

Up to version 3 clients ask for one transaction; from version 4 brokers ask for several.
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@struct
class AddPartitionsToTxnTopic:
    name: str
    partitions: list[Int32]


@struct
class AddPartitionsToTxnTransaction:
    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    verify_only: bool = False
    topics: list[AddPartitionsToTxnTopic]


@message(api_key=24, versions=range(0, 6), flexible_from=3)
class AddPartitionsToTxnRequest:
    transactions: list[AddPartitionsToTxnTransaction] = since(4, factory=list)
    v3_and_below_transactional_id: str = since(0, removed_in=4, default="")
    v3_and_below_producer_id: Int64 = since(0, removed_in=4, default=0)
    v3_and_below_producer_epoch: Int16 = since(0, removed_in=4, default=0)
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = since(0, removed_in=4, factory=list)


@struct
class AddPartitionsToTxnPartitionResult:
    partition_index: Int32
    partition_error_code: Int16


@struct
class AddPartitionsToTxnTopicResult:
    name: str
    results_by_partition: list[AddPartitionsToTxnPartitionResult]


@struct
class AddPartitionsToTxnResult:
    transactional_id: str
    topic_results: list[AddPartitionsToTxnTopicResult]


@message(api_key=24, versions=range(0, 6), flexible_from=3)
class AddPartitionsToTxnResponse:
    throttle_time_ms: Int32
    error_code: Int16 = since(4, default=0, ignorable=True)
    results_by_transaction: list[AddPartitionsToTxnResult] = since(4, factory=list)
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = since(
        0, removed_in=4, factory=list
    )
