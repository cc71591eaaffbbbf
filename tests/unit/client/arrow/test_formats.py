"""What formats of values share."""

import pyarrow as pa
import pytest

from moldau.client.arrow.formats import struct_of, typed


class Numbers:
    """Values that are numbers as text."""

    type = pa.int64()

    def decode(self, values: pa.Array) -> pa.Array:
        return values.cast(pa.string()).cast(pa.int64())

    def encode(self, values: pa.Array) -> pa.Array:
        return values.cast(pa.string()).cast(pa.binary())


def test_values_take_the_place_of_their_bytes() -> None:
    table = pa.table({"key": [b"7", b"8"], "value": [b"10", None]})
    expected = {"key": [b"7", b"8"], "value": [10, None]}
    assert typed(table, {"key": None, "value": Numbers()}).to_pydict() == expected
    both = typed(table, {"key": Numbers(), "value": Numbers()})
    assert both.to_pydict() == {"key": [7, 8], "value": [10, None]}


def test_without_values_there_is_nothing_to_read() -> None:
    with pytest.raises(ValueError, match="needs the column value"):
        typed(pa.table({"offset": [1]}), {"value": Numbers()})


def test_tables_become_structs() -> None:
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    expected = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    assert struct_of(table).to_pylist() == expected
    assert struct_of(table.to_batches()[0]).to_pylist() == expected
    assert struct_of(pa.array(expected)).to_pylist() == expected
