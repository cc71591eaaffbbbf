"""HeaderFrom, InsertHeader and DropHeaders do what Java's do."""

import pytest

from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import INT8, INT32, STRING, struct
from moldau.connect.errors import ConfigError
from unit.connect.transforms.chained import chain

ROW = struct([("a", INT32), ("b", STRING)])
RECORD = ConnectRecord("t", value=Datum({"a": 1, "b": "x"}, ROW), headers=(("old", Datum(1)),))


@pytest.mark.parametrize(
    ("operation", "left"), [("move", {"b": "x"}), ("copy", {"a": 1, "b": "x"})]
)
def test_fields_go_into_headers(operation: str, left: dict[str, object]) -> None:
    found = chain("HeaderFrom$Value", fields="a", headers="h", operation=operation).apply(RECORD)
    assert found is not None
    assert found.headers == (("old", Datum(1)), ("h", Datum(1, INT32)))
    assert found.value.value == left


def test_headers_are_added_and_dropped() -> None:
    added = chain("InsertHeader", header="n", value_literal="5").apply(RECORD)
    assert added is not None
    assert added.headers[-1] == ("n", Datum(5, INT8))
    dropped = chain("DropHeaders", headers="old,n").apply(added)
    assert dropped is not None
    assert dropped.headers == ()


def test_settings_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(ConfigError, match="same number"):
        chain("HeaderFrom$Value", fields="a,b", headers="h", operation="move")
    with pytest.raises(ConfigError, match="move, copy"):
        chain("HeaderFrom$Value", fields="a", headers="h", operation="steal")
