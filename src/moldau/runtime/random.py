"""The port to random numbers."""

import random
import secrets
from typing import Protocol


class Random(Protocol):
    """Where everything random comes from, so that a simulation can repeat it."""

    def below(self, limit: int) -> int:
        """A number in [0, limit)."""

    def uuid(self) -> bytes:
        """16 unique bytes: a random uuid of version 4."""


class SystemRandom:
    """The operating system's randomness for ids, a quick generator for the rest."""

    __slots__ = ()

    def below(self, limit: int) -> int:
        return random.randrange(limit)  # noqa: S311 - placement and jitter, no secrets

    def uuid(self) -> bytes:
        drawn = bytearray(secrets.token_bytes(16))
        drawn[6] = drawn[6] & 0x0F | 0x40
        drawn[8] = drawn[8] & 0x3F | 0x80
        return bytes(drawn)
