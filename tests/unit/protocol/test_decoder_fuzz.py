"""Whatever the bytes, a decoder raises `ProtocolError` or returns, in bounded memory."""

import tracemalloc
from contextlib import suppress
from itertools import chain
from random import Random

import pytest

from moldau.errors import ProtocolError
from moldau.protocol.codec import decode
from moldau.protocol.declaration import facts_of
from unit.protocol.catalogue import all_messages
from unit.protocol.mutations import encoded_example, flipped, overwritten, spliced, truncations

MUTATIONS = 40
# A decoded message takes more than its bytes: an empty list of one byte is a Python object.
BYTES_PER_INPUT_BYTE = 150
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


def test_memory_stays_in_proportion_to_the_input() -> None:
    draw = Random(0)
    cases = []
    for cls in all_messages():
        version = facts_of(cls).versions[-1]
        valid = encoded_example(cls, version, draw)
        decode(cls, version, valid)  # compiles, which takes memory of its own
        cases += [(cls, version, mutated) for mutated in overwritten(valid, draw, 30)]
    tracemalloc.start()
    try:
        for cls, version, mutated in cases:
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            with suppress(ProtocolError):
                decode(cls, version, mutated)
            _, peak = tracemalloc.get_traced_memory()
            limit = BYTES_ALWAYS + BYTES_PER_INPUT_BYTE * len(mutated)
            assert peak - before < limit, f"{cls.__name__} v{version}: {mutated.hex()}"
    finally:
        tracemalloc.stop()
