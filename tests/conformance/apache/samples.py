"""Records of every kind that the conformance tests exchange."""

import random

from moldau.records.record import Record

NOW_MS = 1_700_000_000_000

SMALL = (
    Record(0, NOW_MS, b"key", b"value", ((b"trace", b"1"), (b"trace", None), (b"", b""))),
    Record(1, NOW_MS + 5, None, b"no key"),
    Record(2, NOW_MS - 5, b"tombstone", None),
    Record(3, NOW_MS, b"", b""),
    Record(4, NOW_MS + 86_400_000, None, None, (("grüße".encode(), bytes(300)),)),
)


def large() -> tuple[Record, ...]:
    """4 MB over many blocks of every codec, of which a part does not compress."""
    draw = random.Random(7)
    text = b"the quick brown fox jumps over the lazy dog; " * 200
    return tuple(
        Record(
            offset,
            NOW_MS + offset,
            b"%d" % draw.randrange(1000),
            draw.randbytes(3000) if offset % 3 == 0 else text[draw.randrange(4000) :][:5000],
        )
        for offset in range(1000)
    )


PAYLOADS = {"small": SMALL, "large": large()}
