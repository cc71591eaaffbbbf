"""Batches of pairs are those that are written record by record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.compression import Codec
from moldau.records.pairs import write_pairs
from moldau.records.record import Record

PAIRS = st.lists(
    st.tuples(st.binary(max_size=300), st.none() | st.binary(max_size=3000)), min_size=1
)


@given(PAIRS, st.integers(0, 2**50), st.sampled_from(Codec), st.booleans())
def test_a_batch_of_pairs_is_one_of_records(
    pairs: list[tuple[bytes, bytes | None]], timestamp: int, codec: Codec, is_transactional: bool
) -> None:
    records = [Record(index, timestamp, *pair) for index, pair in enumerate(pairs)]
    attributes = codec | (TRANSACTIONAL if is_transactional else 0)
    producer = Producer(7, 3, -1)
    expected = write_batch(records, attributes=attributes, producer=producer)
    written = write_pairs(pairs, timestamp_ms=timestamp, attributes=attributes, producer=producer)
    assert written == expected


def test_a_batch_needs_a_record() -> None:
    with pytest.raises(AssertionError):
        write_pairs([], timestamp_ms=1)
