"""What is new, in SQL, and how far it is after a row."""

import datetime as dt

import pytest

from moldau.connect.connectors.sql.database import Column
from moldau.connect.connectors.sql.polling import (
    PollOrder,
    Relation,
    table_relation,
    time_offset,
)
from moldau.connect.errors import ConfigError, ConnectError, DataError

COLUMNS = [
    Column("id", "bigint", is_nullable=False, is_key=True),
    Column("made", "timestamp", is_nullable=False, is_key=False),
    Column("changed", "timestamp", is_nullable=True, is_key=False),
]
TABLE = table_relation("s.t", COLUMNS)
NOW = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)


def test_a_relation_is_a_table_or_a_query() -> None:
    assert TABLE.text == '"s"."t"'
    assert (TABLE.shown, Relation("", "(x)", COLUMNS).shown) == ("table s.t", "the query")
    with pytest.raises(ConnectError, match="table none is not there"):
        table_relation("none", [])


def test_conditions_name_the_columns_of_the_mode() -> None:
    number = PollOrder.of({}, "incrementing", TABLE)
    assert number.condition({"incrementing": 7}, NOW, str) == ('"id" > ?', [7])
    both = PollOrder.of({"timestamp.column.name": "changed,made"}, "timestamp+incrementing", TABLE)
    time = 'COALESCE("changed", "made")'
    assert both.text == f'{time}, "id"'
    text, parameters = both.condition({"timestamp": 0, "incrementing": 5}, NOW, str)
    assert text == f'{time} < ? AND (({time} = ? AND "id" > ?) OR {time} > ?)'
    epoch = "1970-01-01 00:00:00+00:00"
    assert parameters == [str(NOW), epoch, 5, epoch]
    with pytest.raises(ConnectError, match="no offset of this connector"):
        both.condition({"timestamp": "x"}, NOW, str)


def test_columns_that_are_all_nullable_pass_over_rows() -> None:
    PollOrder("id", ["changed", "made"]).check_not_null(TABLE)
    with pytest.raises(ConfigError, match=r"table s\.t: changed may be null"):
        PollOrder("id", ["changed"]).check_not_null(TABLE)


def test_an_offset_is_that_of_the_row() -> None:
    order = PollOrder("id", ["changed", "made"])
    row = {"id": 3, "changed": None, "made": "1970-01-01 00:00:01.5"}
    found = {"incrementing": 3, "timestamp": 1500, "timestamp_nanos": 500_000_000}
    assert order.offset(row) == found
    with pytest.raises(DataError, match="id is no whole number: 'x'"):
        order.offset({**row, "id": "x"})
    with pytest.raises(DataError, match="is no time"):
        time_offset(5)
