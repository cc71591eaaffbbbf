"""Tables as captures give them; rows of PostgreSQL's are in its own test."""

import logging

import pytest

from moldau.connect.connectors.capture.cells import Toast
from moldau.connect.connectors.capture.tables import (
    CapturedTable,
    GivenColumn,
    TableName,
    zero_of,
)
from moldau.connect.data.schema import (
    BYTES,
    FLOAT64,
    INT32,
    STRING,
    Kind,
    Schema,
    array,
    decimal,
    map_of,
    struct,
)
from moldau.connect.errors import DataError

SOURCE = struct([("version", STRING)], name="db.Source")
ID = GivenColumn("id", INT32, int, None, 0, None)
NOTE = GivenColumn("note", STRING, str, "unchanged", None, lambda text: f"<{text}>")


def test_columns_that_are_left_out_keep_their_place() -> None:
    found = CapturedTable(TableName("d", "t"), "p.d.t", [ID, None, NOTE], ["id"], SOURCE)
    assert found.row(["1", "hidden", "a"]) == {"id": 1, "note": "<a>"}
    assert found.row(["1", "hidden", Toast.UNCHANGED]) == {"id": 1, "note": "unchanged"}
    assert found.row(["1", None, Toast.UNCHANGED], ["0", None, "b"])["note"] == "<b>"
    assert found.key_of(["1", None, None]) == {"id": 1}
    assert [each.name for each in found.envelope.fields[:3]] == ["before", "after", "source"]
    with pytest.raises(DataError, match="a row of 2 values for 3 columns"):
        found.row(["1", "a"])
    with pytest.raises(DataError, match=r"d\.t\.id: a value cannot be converted"):
        found.row(["x", None, None])


def test_a_large_value_for_which_there_is_no_mark_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found = CapturedTable(TableName("d", "t"), "p.d.t", [ID], [], SOURCE)
    with caplog.at_level(logging.WARNING):
        assert [found.row([Toast.UNCHANGED]) for _ in range(2)] == [{"id": 0}, {"id": 0}]
    assert len(caplog.messages) == 1


def test_each_kind_of_value_has_a_zero() -> None:
    assert str(zero_of(decimal(2))) == "0.00"
    assert (zero_of(array(INT32)), zero_of(map_of(STRING, INT32))) == ([], {})
    assert zero_of(struct([("a", FLOAT64), ("b", BYTES)])) == {"a": 0.0, "b": b""}
    zoned = Schema(Kind.STRING, name="io.debezium.time.ZonedTimestamp")
    assert (zero_of(zoned), zero_of(STRING), zero_of(INT32)) == ("1970-01-01T00:00:00Z", "", 0)
