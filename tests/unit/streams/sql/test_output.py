"""Rows become tables that line up, JSON and CSV."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from pyspark.sql import Row

from moldau.streams.sql.output import failure_text, plain, rendered, shown

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ROWS = [("ann", 7, None), ("bartholomew", 12, NOON)]


def test_a_table_lines_up_and_has_numbers_to_the_right() -> None:
    assert rendered(["name", "n", "at"], ROWS, "table").split("\n") == [
        "name        |  n | at",
        "------------+----+-------------------------",
        "ann         |  7 | NULL",
        "bartholomew | 12 | 2026-01-31T12:00:00.000Z",
    ]


def test_a_long_cell_is_cut_and_stays_on_its_line() -> None:
    cell = rendered(["a"], [("x\ny" * 40,)], "table").split("\n")[2]
    assert len(cell) == 60
    assert cell.startswith("x\\nyx")
    assert cell.endswith("…")


def test_programs_get_all_of_it() -> None:
    assert rendered(["name", "n", "at"], ROWS, "json").split("\n") == [
        '{"name": "ann", "n": 7, "at": null}',
        '{"name": "bartholomew", "n": 12, "at": "2026-01-31T12:00:00.000Z"}',
    ]
    expected = 'name,n,at\nann,7,\n"a,b",1,2026-01-31T12:00:00.000Z'
    assert rendered(["name", "n", "at"], [ROWS[0], ("a,b", 1, NOON)], "csv") == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (b"\x01\xff", "01ff"),
        (Decimal("1.50"), "1.50"),
        (date(2026, 1, 2), "2026-01-02"),
        (Row(a=1, b=[Row(c=None)]), '{"a": 1, "b": [{"c": null}]}'),
        ({"k": b"\x00"}, '{"k": "00"}'),
    ],
)
def test_a_value_is_shown(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_value_of_json_stays_as_it_is() -> None:
    assert plain(1.5) == 1.5


def test_an_error_of_spark_is_one_line() -> None:
    report = "[UNRESOLVED.X] no `a`. SQLSTATE: 42703; line 1 pos 7;\n'Project\n+- more"
    assert failure_text(report) == "no `a`.; line 1 pos 7"
    assert failure_text("Job aborted\nValueError: bad") == "ValueError: bad"
