"""Records that every client under test has to bring to a broker and back."""

import random
from typing import NamedTuple

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
BIG_BYTES = 5 * 2**20
START_MS = 1_700_000_000_000

Headers = tuple[tuple[str, bytes | None], ...]


class Sent(NamedTuple):
    """One record; `headers` may repeat a name, as Kafka allows."""

    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: Headers = ()


def records(count: int = 200) -> list[Sent]:
    """Keys, values and headers of every kind; half of it compresses well."""
    draw = random.Random(5)
    special = [
        Sent(b"key", b"value", START_MS, (("trace", b"1"), ("trace", b"2"))),
        Sent(None, b"no key", START_MS + 1),
        Sent(b"tombstone", None, START_MS + 2),
        Sent(b"", b"", START_MS + 3, (("empty", b""),)),
        Sent("grüße".encode(), "žluťoučký".encode(), START_MS - 5, (("läßt", b"\x00\xff"),)),
    ]
    many = [
        Sent(
            b"%d" % number,
            draw.randbytes(100) if number % 2 else b"the same again; " * 20,
            START_MS + number,
        )
        for number in range(count - len(special))
    ]
    return special + many


def big_record() -> Sent:
    """Several megabytes that do not compress."""
    return Sent(b"big", random.Random(6).randbytes(BIG_BYTES), START_MS)
