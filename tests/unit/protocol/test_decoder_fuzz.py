"""Whatever the bytes, a decoder raises `ProtocolError` or returns, in bounded memory."""

import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from random import Random

import pytest

from moldau.errors import ProtocolError
from moldau.protocol.codec import decode, decoder_of, encode
from moldau.protocol.declaration import facts_of
from unit.protocol.catalogue import all_messages
from unit.protocol.mutations import (
    encoded_example,
    flipped,
    overwritten,
    smallest,
    spliced,
    truncations,
)

MUTATIONS = 40
# A decoded message takes more than its bytes: an empty list of one byte is a Python object.
BYTES_PER_INPUT_BYTE = 64
BYTES_ALWAYS = 16 * 1024


@pytest.mark.parametrize("cls", all_messages(), ids=lambda cls: cls.__name__)
def test_every_proper_prefix_is_refused(cls: type) -> None:
    for version in facts_of(cls).versions:
        for prefix in truncations(encoded_example(cls, version, Random(version))):
            with pytest.raises(ProtocolError):
                decode(cls, version, prefix)


@pytest.mark.parametrize("cls", all_messages(), ids=lambda cls: cls.__name__)
def test_mutations_are_read_or_refused(cls: type) -> None:
    for version in facts_of(cls).versions:
        draw = Random(version)
        valid = encoded_example(cls, version, draw)
        for mutated in chain(
            flipped(valid, draw, MUTATIONS),
            overwritten(valid, draw, MUTATIONS),
            spliced(valid, draw, MUTATIONS),
        ):
            try:
                _, end = decode(cls, version, mutated)
            except ProtocolError:
                continue
            assert end <= len(mutated)


def test_memory_stays_in_proportion_when_lengths_lie() -> None:
    draw = Random(0)
    for cls in all_messages():
        version = facts_of(cls).versions[-1]
        valid = encoded_example(cls, version, draw)
        for mutated in overwritten(valid, draw, 30):
            assert peak_bytes(cls, version, mutated) < memory_limit(mutated), mutated.hex()


def test_memory_stays_in_proportion_when_elements_are_as_small_as_can_be() -> None:
    for cls in all_messages():
        for version in (facts_of(cls).versions[0], facts_of(cls).versions[-1]):
            encoded = encode(smallest(cls, version, element_count=500), version)
            assert peak_bytes(cls, version, encoded) < memory_limit(encoded), cls.__name__


def memory_limit(data: bytes) -> int:
    return BYTES_ALWAYS + BYTES_PER_INPUT_BYTE * len(data)


def peak_bytes(cls: type, version: int, data: bytes) -> int:
    """The most memory that decoding had in use at once."""
    decoder: Callable[[bytes, int], object] = decoder_of(
        cls, version
    )  # compiling takes memory of its own
    tracemalloc.start()
    try:
        with suppress(ProtocolError):
            decoder(data, 0)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
