"""Changes, whichever database they are from."""

from dataclasses import replace

from moldau.connect.connectors.capture.changes import (
    Order,
    RowChange,
    TransactionCounts,
    split_key_change,
)
from moldau.connect.connectors.postgresql.places import LogPlace
from unit.connect.connectors.postgresql.tables import table

CHANGE = RowChange(
    table(), "u", LogPlace(1, None, 1, 0), old=["1", "a", None], new=["1", "b", None]
)


def test_an_update_of_the_key_is_a_row_that_goes_and_one_that_comes() -> None:
    gone, come = split_key_change(replace(CHANGE, new=["2", "a", None]))
    assert (gone.operation, gone.new, gone.other_key) == ("d", None, {"id": 2})
    assert (come.operation, come.new, come.other_key) == ("c", ["2", "a", None], {"id": 1})


def test_other_changes_stay_as_they_are() -> None:
    whole = replace(CHANGE, has_full_old=True)
    for each in (CHANGE, whole, replace(CHANGE, old=None), replace(CHANGE, old=[None, "a", None])):
        assert list(split_key_change(each)) == [each]


def test_changes_are_counted_by_tables() -> None:
    counts = TransactionCounts()
    assert [counts.next(each) for each in ("a", "b", "a")] == [
        Order(1, 1),
        Order(2, 1),
        Order(3, 2),
    ]
    assert counts.counts == {"a": 2, "b": 1}
