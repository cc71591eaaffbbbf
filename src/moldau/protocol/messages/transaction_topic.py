"""Records of `__transaction_state`.

Key and value are each preceded by their version as an Int16.
"""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int8, Int16, Int32, Int64


@message(versions=range(0, 1), flexible_from=None)
class TransactionLogKey:
    transactional_id: str


@struct
class PartitionsSchema:
    topic: str
    partition_ids: list[Int32]


@message(versions=range(0, 2), flexible_from=1)
class TransactionLogValue:
    producer_id: Int64
    producer_epoch: Int16
    transaction_timeout_ms: Int32
    transaction_status: Int8
    # None while no transaction is open.
    transaction_partitions: list[PartitionsSchema] | None
    transaction_last_update_timestamp_ms: Int64
    transaction_start_timestamp_ms: Int64
