"""Tables make rows and keys of texts."""

import logging
from dataclasses import replace

import pytest

from moldau.connect.connectors.capture.cells import Cells, Toast
from moldau.connect.connectors.capture.tables import CapturedTable, TableName
from moldau.connect.connectors.postgresql.column_types import PgType
from moldau.connect.connectors.postgresql.modes import HandlingModes
from moldau.connect.connectors.postgresql.table_schema import (
    CapturedColumn,
    RowRules,
    captured_table,
)
from moldau.connect.errors import DataError
from unit.connect.connectors.postgresql.tables import INT, RULES, TEXT, table


def one(column: CapturedColumn, rules: RowRules = RULES) -> CapturedTable:
    return captured_table(TableName("s", "t"), "p.s.t", [column], [], rules)


def test_a_row_has_all_columns_and_the_key_those_of_the_key() -> None:
    found = table()
    assert found.row(["1", "a", None]) == {"id": 1, "name": "a", "note": None}
    assert found.key_of(["1", "a", None]) == {"id": 1}
    assert found.key_schema is not None
    assert found.key_schema.name == "p.s.t.Key"
    assert found.row_schema.name == "p.s.t.Value"
    assert [each.schema.default for each in found.row_schema.fields] == [None, "anon", None]
    assert (found.has_key_in(["1", None, None]), found.has_key_in([None, "a", None])) == (
        *(True, False),
    )
    assert table(key="").key_of(["1", "a", None]) is None


def test_what_is_not_known_of_an_old_row_is_its_default_or_a_zero() -> None:
    assert table().row(["1", None, None]) == {"id": 1, "name": "anon", "note": None}
    zeros = {
        "int4": 0,
        "text": "",
        "bytea": b"",
        "bool": False,
        "float8": 0.0,
        "timestamptz": "1970-01-01T00:00:00Z",
        "point": {"x": 0.0, "y": 0.0, "wkb": b"", "srid": 0},
    }
    for name, zero in zeros.items():
        found = one(CapturedColumn("c", PgType(name), is_nullable=False))
        assert found.row([None]) == {"c": zero}
    numeric = PgType("numeric")
    money = one(CapturedColumn("c", numeric, (6 << 16 | 2) + 4, is_nullable=False))
    assert str(money.row([None])["c"]) == "0.00"
    numbers = one(CapturedColumn("c", PgType("_int4", element=INT), is_nullable=False))
    assert numbers.row([None]) == {"c": []}
    pairs = replace(RULES, modes=HandlingModes(hstore="map"))
    assert one(CapturedColumn("c", PgType("hstore"), is_nullable=False), pairs).row([None]) == {
        "c": {}
    }
    nothing = one(CapturedColumn("c", numeric, is_nullable=False))
    assert nothing.row(["NaN"])["c"] == {"scale": 0, "value": b""}


def test_a_large_value_that_did_not_change_is_marked_or_taken_from_the_old_row() -> None:
    found = table()
    cells: Cells = ["1", "a", Toast.UNCHANGED]
    assert found.row(cells)["note"] == "__debezium_unavailable_value"
    assert found.row(cells, ["1", "a", "old"])["note"] == "old"


def test_where_no_mark_can_stand_the_log_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    number = PgType("numeric")
    optional, due = (
        one(CapturedColumn("c", number)),
        one(CapturedColumn("c", number, is_nullable=False)),
    )
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert optional.row([Toast.UNCHANGED]) == {"c": None}
        assert due.row([Toast.UNCHANGED]) == {"c": {"scale": 0, "value": b""}}
    assert [each.message.count("REPLICA IDENTITY FULL") for each in caplog.records] == [1, 1]


def test_what_does_not_fit_is_an_error_that_names_the_column() -> None:
    with pytest.raises(DataError, match=r"s\.t\.id: a value cannot be converted"):
        table().row(["x", "a", None])
    with pytest.raises(DataError, match="a row of 1 values for 3 columns"):
        table().row(["1"])


def test_columns_can_be_left_out_and_masked(caplog: pytest.LogCaptureFixture) -> None:
    rules = RowRules(
        HandlingModes(),
        lambda name: name != "s.t.name",
        lambda name, _: (lambda _: "***") if name == "s.t.note" else None,
    )
    assert table(rules=rules).row(["1", "a", "secret"]) == {"id": 1, "note": "***"}
    with caplog.at_level(logging.WARNING):
        assert one(CapturedColumn("c", PgType("box"))).row(["(1,1),(0,0)"]) == {}
    assert "its type box is not known" in caplog.text
    assert TEXT.kind == "b"
