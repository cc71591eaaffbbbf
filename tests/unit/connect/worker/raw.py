"""Records as consumers hand them out."""

from moldau.client.record import ConsumerRecord


def raw(
    value: bytes | None, *, topic: str = "t", offset: int = 0, key: bytes | None = None
) -> ConsumerRecord[bytes, bytes]:
    return ConsumerRecord(topic, 0, offset, 5, key, value, (("h", b"1"),))
