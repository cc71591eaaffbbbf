"""AddOffsetsToTxn (key 25): add a group's offsets to a transaction."""

from moldau.protocol.declaration import message
from moldau.protocol.primitives import Int16, Int32, Int64


@message(api_key=25, versions=range(0, 5), flexible_from=3)
class AddOffsetsToTxnRequest:
    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    group_id: str


@message(api_key=25, versions=range(0, 5), flexible_from=3)
class AddOffsetsToTxnResponse:
    throttle_time_ms: Int32
    error_code: Int16
