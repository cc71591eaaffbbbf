"""Which partition of an internal topic a key belongs to, as Java hashes it."""

import sys
from functools import lru_cache

_UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
_INT32_MIN = -(2**31)


@lru_cache(maxsize=4096)  # the same groups and producers come again and again
def java_hash(text: str) -> int:
    """Java's `String.hashCode`: over UTF-16 units, wrapping at 32 bits."""
    value = 0
    for unit in memoryview(text.encode(_UTF_16, "surrogatepass")).cast("H"):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value if value < 2**31 else value - 2**32


def partition_of(key: str, partition_count: int) -> int:
    """The partition that keeps everything about `key`."""
    value = java_hash(key)
    # In Java the absolute value of the smallest integer is negative; Kafka takes 0 for it.
    return (0 if value == _INT32_MIN else abs(value)) % partition_count
