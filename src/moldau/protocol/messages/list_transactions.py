"""ListTransactions (key 66): list the transactions that a broker coordinates (KIP-664)."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@message(api_key=66, versions=range(0, 2), flexible_from=0)
class ListTransactionsRequest:
    state_filters: list[str]
    producer_id_filters: list[Int64]
    duration_filter: Int64 = since(1, default=-1)


@struct
class TransactionState:
    transactional_id: str
    producer_id: Int64
    transaction_state: str


@message(api_key=66, versions=range(0, 2), flexible_from=0)
class ListTransactionsResponse:
    throttle_time_ms: Int32
    error_code: Int16
    unknown_state_filters: list[str]
    transaction_states: list[TransactionState]
