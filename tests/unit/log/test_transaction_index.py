"""The aborted transactions of a segment."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.log.index import CorruptIndex
from moldau.log.transaction_index import AbortedTransaction, TransactionIndex


def index_of(*transactions: tuple[int, int, int, int]) -> TransactionIndex:
    index = TransactionIndex(0)
    for transaction in transactions:
        index.append(AbortedTransaction(*transaction))
    return index


def test_an_entry_has_kafkas_34_bytes() -> None:
    data = index_of((7, 3, 9, 10)).take_unwritten()

    assert data == bytes.fromhex(
        "0000000000000000000700000000000000030000000000000009000000000000000a"
    )
    assert TransactionIndex(0, data).entry(0) == (7, 3, 9, 10)


def test_a_range_gets_the_transactions_that_reach_into_it() -> None:
    index = index_of((1, 0, 5, 6), (2, 4, 9, 7), (3, 7, 20, 21))

    assert [t.producer_id for t in index.collect(5, 7).transactions] == [1, 2]
    assert [t.producer_id for t in index.collect(6, 8).transactions] == [2, 3]
    assert [t.producer_id for t in index.collect(10, 50).transactions] == [3]
    assert index.collect(21, 50).transactions == []


def test_the_answer_is_complete_once_all_before_the_range_end_was_decided() -> None:
    index = index_of((1, 0, 5, 6), (2, 4, 9, 7), (3, 7, 20, 21))

    assert index.collect(0, 6).is_complete
    assert [t.producer_id for t in index.collect(0, 6).transactions] == [1]
    assert index.collect(0, 21).is_complete
    assert not index.collect(0, 22).is_complete


def test_truncation_drops_what_ended_later_and_the_file_is_cut() -> None:
    index = index_of((1, 0, 5, 6), (2, 4, 9, 10))
    index.take_unwritten()

    index.truncate_to(9)

    assert len(index) == 1
    assert (index.written_size, index.has_unwritten) == (34, False)
    index.append(AbortedTransaction(2, 4, 12, 13))
    assert index.has_unwritten
    assert len(index.take_unwritten()) == 34


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 33,
        struct.pack(">hqqqq", 1, 7, 3, 9, 10),
        struct.pack(">hqqqq", 0, 7, 3, 4, 10),
        struct.pack(">hqqqq", 0, 7, 11, 10, 10),
        struct.pack(">hqqqqhqqqq", 0, 7, 3, 9, 10, 0, 8, 3, 9, 10),
    ],
    ids=["cut", "version", "before base", "ends before it starts", "not rising"],
)
def test_bytes_that_cannot_be_the_index_are_refused(data: bytes) -> None:
    with pytest.raises(CorruptIndex):
        TransactionIndex(5, data)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=25),
    st.integers(0, 30),
    st.integers(0, 30),
)
def test_no_transaction_in_a_range_is_missed(
    writes: list[tuple[int, bool]], start_offset: int, length: int
) -> None:
    open_from: dict[int, int] = {}
    aborted = []
    for offset, (producer_id, is_abort) in enumerate(writes):
        first_offset = open_from.setdefault(producer_id, offset)
        if is_abort:
            del open_from[producer_id]
            stable = min(open_from.values(), default=offset + 1)
            aborted.append(AbortedTransaction(producer_id, first_offset, offset, stable))
    end_offset = start_offset + length

    found = index_of(*aborted).collect(start_offset, end_offset)

    assert found.transactions == [
        t for t in aborted if t.last_offset >= start_offset and t.first_offset < end_offset
    ]
