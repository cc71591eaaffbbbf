"""Scratch memory is used again, and never by two at once."""

import pytest

from moldau.records.compression import Codec, compress, decompress
from moldau.records.scratch import Scratch

SIZE = 100_000


def test_what_was_given_back_is_given_out_again() -> None:
    scratch = Scratch()
    pool = scratch.take()
    first = pool.allocate(SIZE).obj
    scratch.give_back(pool)
    again = scratch.take()
    assert again is pool
    assert again.allocate(SIZE).obj is first


def test_two_at_work_have_two_pools() -> None:
    scratch = Scratch()
    assert scratch.take() is not scratch.take()


@pytest.mark.parametrize("codec", [Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_memory_with_old_content_changes_nothing(codec: Codec) -> None:
    pool = Scratch().take()
    texts = [bytes([65 + n]) * (SIZE >> n) for n in range(4)]
    for text in texts:
        found = decompress(codec, compress(codec, text), limit_bytes=SIZE, allocate=pool.allocate)
        assert bytes(found) == text
        del found
    assert pool.kept_bytes <= 4 * SIZE
