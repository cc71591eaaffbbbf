"""The pool gives memory out again, but never while anybody can still see it."""

from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.records.batch import write_batch
from moldau.records.columns import decode_columns
from moldau.records.pool import SIZE_MIN, MemoryPool
from moldau.records.record import Record


def identity(view: memoryview) -> int:
    return id(view.obj)


def test_memory_is_used_again_after_its_last_view_is_gone() -> None:
    pool = MemoryPool()
    view = pool.allocate(50_000)
    part, place = view[100:200].cast("b"), identity(view)
    del view
    other = pool.allocate(50_000)
    assert identity(other) != place
    del part
    assert identity(pool.allocate(50_000)) == place


def test_fetches_of_about_the_same_size_use_the_same_memory() -> None:
    pool = MemoryPool()
    place = identity(pool.allocate(70_000))
    assert identity(pool.allocate(100_000)) == place
    assert pool.kept_bytes == 1 << 17


@pytest.mark.parametrize("size", [0, 1, SIZE_MIN - 1, SIZE_MIN, SIZE_MIN + 1, 65536, 65537])
def test_there_is_room_for_what_was_asked(size: int) -> None:
    pool = MemoryPool()
    for _ in range(3):
        assert len(pool.allocate(size)) >= size


def test_memory_beyond_the_capacity_is_given_out_but_not_kept() -> None:
    pool = MemoryPool(capacity_bytes=3 << 16)
    views = [pool.allocate(1 << 16) for _ in range(5)]
    assert len({identity(view) for view in views}) == 5
    assert pool.kept_bytes == 3 << 16
    assert len(pool.allocate(1 << 20)) >= 1 << 20


def test_small_memory_is_not_kept() -> None:
    pool = MemoryPool()
    pool.allocate(SIZE_MIN - 1)
    assert pool.kept_bytes == 0


def test_what_is_not_in_use_makes_room_for_another_size() -> None:
    pool = MemoryPool(capacity_bytes=1 << 20)
    used = [pool.allocate(1 << 18)]
    pool.allocate(1 << 19)
    used += [pool.allocate(1 << 17) for _ in range(6)]
    assert len({identity(view) for view in used}) == 7
    assert pool.kept_bytes == 1 << 20  # all of it in use: the half that was not has gone


@given(steps=st.lists(st.tuples(st.integers(0, 200_000), st.integers(0, 5)), max_size=30))
def test_no_two_views_in_use_share_memory(steps: list[tuple[int, int]]) -> None:
    pool = MemoryPool(capacity_bytes=1_000_000)
    in_use: list[memoryview] = []
    for size, released in steps:
        del in_use[:released]
        in_use.append(pool.allocate(size))
        assert all(one.obj is not other.obj for one, other in combinations(in_use, 2))
        assert pool.kept_bytes <= 1_000_000


def test_columns_keep_their_memory_for_as_long_as_arrow_holds_them() -> None:
    pool = MemoryPool()
    first = write_batch([Record(0, 0, b"k", b"first" * SIZE_MIN)])
    second = write_batch([Record(0, 0, b"k", b"other" * SIZE_MIN)])
    columns = decode_columns(first, allocate=pool.allocate)
    assert columns.values is not None
    held = pa.py_buffer(columns.values.data)
    del columns
    columns = decode_columns(second, allocate=pool.allocate)
    assert held.to_pybytes() == b"first" * SIZE_MIN
    del held, columns
    kept_bytes = pool.kept_bytes
    assert kept_bytes > 0
    for _ in range(3):
        assert decode_columns(second, allocate=pool.allocate).row_count == 1
    assert pool.kept_bytes == kept_bytes
