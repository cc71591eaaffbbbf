"""The last value of a key holds, and null deletes it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.streams.queries.rows import TableRow, TableRows, TableTooLarge

KEYS = st.sampled_from([b"a", b"ab", b"b", b"c"])


@given(st.lists(st.tuples(KEYS, st.none() | st.binary(max_size=2))))
def test_rows_are_those_of_a_dictionary(records: list[tuple[bytes, bytes | None]]) -> None:
    rows = TableRows(keys_max=10)
    model: dict[bytes, bytes] = {}
    for key, value in records:
        rows.put(key, value)
        model.pop(key, None)
        if value is not None:
            model[key] = value
    assert len(rows) == len(model)
    assert rows.after(None, 10) == [TableRow(key, model[key]) for key in sorted(model)]
    assert rows.get(b"a") == model.get(b"a")


def test_rows_come_in_pages() -> None:
    rows = TableRows(keys_max=10)
    for key in (b"c", b"a", b"b", b"d"):
        rows.put(key, key)
    assert [row.key for row in rows.after(None, 2)] == [b"a", b"b"]
    assert [row.key for row in rows.after(b"b", 2)] == [b"c", b"d"]


def test_windows_of_a_key_begin_with_it() -> None:
    rows = TableRows(keys_max=10)
    for key in (b"a2", b"b1", b"a1"):
        rows.put(key, key)
    assert [row.key for row in rows.starting_with(b"a", 5)] == [b"a1", b"a2"]


def test_a_record_without_a_key_is_in_no_table() -> None:
    rows = TableRows(keys_max=1)
    rows.put(None, b"x")
    assert len(rows) == 0


def test_a_table_that_is_too_large_says_what_to_do() -> None:
    rows = TableRows(keys_max=1)
    rows.put(b"a", b"x")
    with pytest.raises(TableTooLarge, match="raise keys_max"):
        rows.put(b"b", b"x")
