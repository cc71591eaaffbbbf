"""Values as JSON, with and without their schema."""

import json
from decimal import Decimal

import pytest

from moldau.connect.converters.json_converter import JsonConverter
from moldau.connect.data.record import NULL, Datum
from moldau.connect.data.schema import INT32, STRING, array, decimal, optional, struct
from moldau.connect.errors import DataError

ROW = struct([("id", INT32), ("name", optional(STRING).but(default="anon"))])


def test_with_an_envelope_the_schema_goes_along() -> None:
    converter = JsonConverter({})
    datum = Datum({"id": 1, "name": "x"}, ROW)
    data = converter.to_bytes("t", datum)
    assert data is not None
    assert data.startswith(b'{"schema":{"type":"struct","fields":[{"type":"int32"')
    assert converter.from_bytes("t", data) == datum
    assert converter.to_bytes("t", datum) == data


def test_without_an_envelope_objects_are_maps() -> None:
    converter = JsonConverter({"schemas.enable": "false"})
    assert (
        converter.to_bytes("t", Datum({"id": 1, "name": "ü"}, ROW))
        == '{"id":1,"name":"ü"}'.encode()
    )
    assert converter.from_bytes("t", b'{"a":1}') == Datum({"a": 1})
    assert converter.to_bytes("t", Datum({"a": [1, {"b": None}]})) == b'{"a":[1,{"b":null}]}'


def test_null_is_written_as_the_default_unless_told_otherwise() -> None:
    datum = Datum({"id": 1, "name": None}, ROW)
    filled = JsonConverter({"schemas.enable": "false"}).to_bytes("t", datum)
    kept = JsonConverter(
        {"schemas.enable": "false", "replace.null.with.default": "false"}
    ).to_bytes("t", datum)
    assert (filled, kept) == (b'{"id":1,"name":"anon"}', b'{"id":1,"name":null}')


def test_decimals_may_be_numbers() -> None:
    settings = {"schemas.enable": "false", "decimal.format": "numeric"}
    schema = struct([("d", decimal(2)), ("l", array(decimal(0)))])
    data = JsonConverter(settings).to_bytes(
        "t", Datum({"d": Decimal("1.50"), "l": [Decimal(2)]}, schema)
    )
    assert json.loads(data or b"") == {"d": 1.5, "l": [2]}


def test_plain_json_with_the_envelope_on_names_the_setting_and_shows_the_record() -> None:
    with pytest.raises(DataError, match=r"set schemas.enable=false .* b'\{\"a\":1\}'"):
        JsonConverter({}).from_bytes("t", b'{"a":1}')
    with pytest.raises(DataError, match="serialization error"):
        JsonConverter({}).from_bytes("t", b"{")


def test_null_and_what_json_cannot_say() -> None:
    assert JsonConverter({}).to_bytes("t", NULL) is None
    assert JsonConverter({}).from_bytes("t", b'{"schema":null,"payload":5}') == Datum(5)
    with pytest.raises(DataError, match="Couldn't convert"):
        JsonConverter({}).to_bytes("t", Datum(object()))
