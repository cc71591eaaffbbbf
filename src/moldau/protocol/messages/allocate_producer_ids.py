"""AllocateProducerIds (key 67): a broker reserves a block of producer ids (KIP-730)."""

from moldau.protocol.declaration import message
from moldau.protocol.primitives import Int16, Int32, Int64


@message(api_key=67, versions=range(0, 1), flexible_from=0)
class AllocateProducerIdsRequest:
    broker_id: Int32
    broker_epoch: Int64 = -1


@message(api_key=67, versions=range(0, 1), flexible_from=0)
class AllocateProducerIdsResponse:
    throttle_time_ms: Int32
    error_code: Int16
    producer_id_start: Int64
    producer_id_len: Int32
