"""DescribeTransactions (key 65): show the state of transactions (KIP-664)."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@message(api_key=65, versions=range(0, 1), flexible_from=0)
class DescribeTransactionsRequest:
    transactional_ids: list[str]


@struct
class TopicData:
    topic: str
    partitions: list[Int32]


@struct
class TransactionState:
    error_code: Int16
    transactional_id: str
    transaction_state: str
    transaction_timeout_ms: Int32
    transaction_start_time_ms: Int64
    producer_id: Int64
    producer_epoch: Int16
    topics: list[TopicData]


@message(api_key=65, versions=range(0, 1), flexible_from=0)
class DescribeTransactionsResponse:
    throttle_time_ms: Int32
    transaction_states: list[TransactionState]
