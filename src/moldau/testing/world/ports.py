"""A machine's clock and its source of chance, both the world's."""

import random

from moldau.testing.world.loop import WorldLoop

# The world begins on 1 January 2026.
_EPOCH_MS = 1_767_225_600_000


class WorldClock:
    """The loop's time; the clock on the wall may be wrong."""

    def __init__(self, loop: WorldLoop) -> None:
        self.skew_ms = 0
        """How much the clock on the wall is ahead."""
        self._loop = loop

    def now_ms(self) -> int:
        return _EPOCH_MS + int(self._loop.time() * 1000) + self.skew_ms

    def monotonic_ms(self) -> int:
        return int(self._loop.time() * 1000)

    def monotonic_ns(self) -> int:
        return int(self._loop.time() * 1e9)


class WorldRandom:
    """Numbers that the seed decides."""

    def __init__(self, source: random.Random) -> None:
        self._source = source

    def below(self, limit: int) -> int:
        return self._source.randrange(limit)

    def uuid(self) -> bytes:
        drawn = bytearray(self._source.randbytes(16))
        drawn[6] = drawn[6] & 0x0F | 0x40
        drawn[8] = drawn[8] & 0x3F | 0x80
        return bytes(drawn)
