"""EndTxn (key 26): commit or abort a transaction."""

from moldau.protocol.declaration import message
from moldau.protocol.primitives import Int16, Int32, Int64


@message(api_key=26, versions=range(0, 5), flexible_from=3)
class EndTxnRequest:
    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    committed: bool


@message(api_key=26, versions=range(0, 5), flexible_from=3)
class EndTxnResponse:
    throttle_time_ms: Int32
    error_code: Int16
