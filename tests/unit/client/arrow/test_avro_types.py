"""Avro's types as Arrow's."""

import pyarrow as pa
import pytest

from moldau.client.arrow.avro_types import arrow_type

INNER = {"type": "record", "name": "s", "fields": []}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("long", pa.int64()),
        ({"type": "string"}, pa.string()),
        (["null", "double"], pa.float64()),
        ({"type": "array", "items": "int"}, pa.list_(pa.int32())),
        ({"type": "map", "values": "bytes"}, pa.map_(pa.string(), pa.binary())),
        ({"type": "enum", "name": "e", "symbols": ["A"]}, pa.string()),
        ({"type": "fixed", "name": "f", "size": 4}, pa.binary(4)),
        ({"type": "int", "logicalType": "date"}, pa.date32()),
        ({"type": "long", "logicalType": "timestamp-millis"}, pa.timestamp("ms", tz="UTC")),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
            pa.decimal128(9, 2),
        ),
        ({"type": "int", "logicalType": "unheard-of"}, pa.int32()),
        (
            {"type": "record", "name": "r", "fields": [{"name": "a", "type": INNER}]},
            pa.struct([("a", pa.struct([]))]),
        ),
    ],
)
def test_each_type_has_its_counterpart(schema: object, expected: pa.DataType) -> None:
    assert arrow_type(schema) == expected


def test_a_column_has_one_type() -> None:
    with pytest.raises(ValueError, match="one type of several"):
        arrow_type(["int", "string"])
    with pytest.raises(ValueError, match="no primitive type"):
        arrow_type("com.example.Order")
