"""The hash by which Kafka's clients spread keys over partitions.

`murmur.pxd` is its compiled form for the kernels.
"""

_UINT32 = 0xFFFFFFFF
_SEED = 0x9747B28C
_MULTIPLIER = 0x5BD1E995
_SHIFT = 24


def murmur2(data: bytes) -> int:
    """The hash of a key, as a signed number of 32 bits."""
    return murmur2_at(memoryview(data), 0, len(data))


def murmur2_at(source: memoryview, position: int, size: int) -> int:
    """The hash of `size` bytes from `source` at `position`."""
    value = _SEED ^ size
    end = position + (size & ~3)
    for each in range(position, end, 4):
        word = int.from_bytes(source[each : each + 4], "little") * _MULTIPLIER & _UINT32
        word = (word ^ word >> _SHIFT) * _MULTIPLIER & _UINT32
        value = value * _MULTIPLIER & _UINT32 ^ word
    if size & 3:
        rest = int.from_bytes(source[end : position + size], "little")
        value = (value ^ rest) * _MULTIPLIER & _UINT32
    value = (value ^ value >> 13) * _MULTIPLIER & _UINT32
    value ^= value >> 15
    return value - 2**32 if value >= 2**31 else value
