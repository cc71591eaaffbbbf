"""Randomness: in bounds, and ids of version 4."""

import uuid

from moldau.runtime.random import SystemRandom


def test_numbers_are_below_the_limit() -> None:
    random = SystemRandom()
    assert {random.below(3) for _ in range(200)} == {0, 1, 2}


def test_ids_are_random_uuids() -> None:
    random = SystemRandom()
    drawn = [random.uuid() for _ in range(100)]
    assert len(set(drawn)) == 100
    assert {uuid.UUID(bytes=one).version for one in drawn} == {4}
