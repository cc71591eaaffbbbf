"""InitProducerId (key 22): give a producer its id and epoch."""

from moldau.protocol.declaration import message, since
from moldau.protocol.primitives import Int16, Int32, Int64


@message(api_key=22, versions=range(0, 6), flexible_from=2)
class InitProducerIdRequest:
    transactional_id: str | None
    transaction_timeout_ms: Int32
    producer_id: Int64 = since(3, default=-1)
    producer_epoch: Int16 = since(3, default=-1)


@message(api_key=22, versions=range(0, 6), flexible_from=2)
class InitProducerIdResponse:
    throttle_time_ms: Int32
    error_code: Int16
    producer_id: Int64 = -1
    producer_epoch: Int16
