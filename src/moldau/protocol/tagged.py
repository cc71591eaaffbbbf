"""Tagged fields: the optional tail of every struct in flexible versions (KIP-482).

A count, then for each field its tag, its size and its bytes, in ascending order
of tags. A reader skips the tags that it does not know; they are not kept.
"""

from collections.abc import Sequence

from moldau.errors import ProtocolError
from moldau.protocol.primitives import Buffer
from moldau.protocol.varint import decode_uvarint, encode_uvarint


def encode_tagged(fields: Sequence[tuple[int, Buffer]]) -> bytes:
    """The tail for these (tag, encoded value) pairs, which must ascend."""
    parts: list[Buffer] = [encode_uvarint(len(fields))]
    for tag, value in fields:
        parts += (encode_uvarint(tag), encode_uvarint(len(value)), value)
    return b"".join(parts)


def decode_tag(buffer: Buffer, position: int, previous: int) -> tuple[int, int, int]:
    """The next field's tag, the position of its value and the position after it."""
    tag, position = decode_uvarint(buffer, position)
    if tag <= previous:
        raise ProtocolError(f"tag {tag} follows tag {previous}")
    size, position = decode_uvarint(buffer, position)
    if size > len(buffer) - position:
        raise ProtocolError(f"tag {tag} claims {size} bytes, {len(buffer) - position} are left")
    return tag, position, position + size


def skip_tagged(buffer: Buffer, position: int) -> int:
    """The position after the tail whose count has its first byte before `position`."""
    count, position = decode_uvarint(buffer, position - 1)
    tag = -1
    for _ in range(count):
        tag, _, position = decode_tag(buffer, position, tag)
    return position
