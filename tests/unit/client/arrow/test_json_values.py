"""JSON to columns and back."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.arrow.json_values import Json
from moldau.client.registry import Registry, schema_id_of
from unit.client.registry_server import registry_server

SCHEMA = {"id": pa.int64(), "name": pa.string(), "tags": pa.list_(pa.string())}
rows_of = st.lists(
    st.none()
    | st.fixed_dictionaries(
        {
            "id": st.none() | st.integers(-(2**63), 2**63 - 1),
            "name": st.none() | st.text(st.characters(codec="utf-8"), max_size=10),
            "tags": st.none() | st.lists(st.text("ab\n", max_size=3), max_size=3),
        }
    ),
    max_size=10,
)


@given(rows_of)
def test_what_is_encoded_is_decoded(rows: list[dict[str, object] | None]) -> None:
    form = Json(SCHEMA)
    values = pa.array(rows, form.type)
    encoded = form.encode(values)
    assert encoded.null_count == values.null_count
    decoded = form.decode(encoded)
    decoded.validate(full=True)
    assert decoded.to_pylist() == rows


def test_missing_fields_are_null_and_unknown_ones_left_out() -> None:
    form = Json(pa.schema(list(SCHEMA.items())))
    values = pa.array([b'{"id": 1,\n "more": {"x": 1}}', None, b"{}"])
    assert form.decode(values).to_pylist() == [
        {"id": 1, "name": None, "tags": None},
        None,
        {"id": None, "name": None, "tags": None},
    ]


def test_nothing_shifts_if_one_value_has_two_objects_and_another_none() -> None:
    form = Json({"a": pa.int64()})
    for values in (
        [b'{"a":1}{"a":2}', b""],
        [b" ", b'{"a":1} {"a":2}'],
        [b'{"a":', b'1}{"a":2}'],
        [b'{"a":1}{"a":2}', b'{"a":', b"3}"],
    ):
        with pytest.raises(ValueError, match="row 0 is not JSON"):
            form.decode(pa.array(values, pa.binary()))
    spaced = pa.array([b' {"a":1}', b'{"a":2}\r\n'], pa.binary())
    assert form.decode(spaced).to_pylist() == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"{", "row 1 is not JSON"),
        (b"[1]", "row 1 is not a JSON object"),
        (b"{} {}", "row 1 is not JSON"),
        (b"", "row 1 is not JSON"),
        (b'{"id": "x"}', "JSON does not fit the schema"),
    ],
)
def test_what_does_not_fit_is_an_error_that_says_where(bad: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Json(SCHEMA).decode(pa.array([b'{"id": 1}', bad]))


def test_with_a_registry_values_have_the_number_of_their_schema() -> None:
    with registry_server() as server:
        form = Json(
            {**SCHEMA, "price": pa.float64(), "is_paid": pa.bool_(), "at": pa.timestamp("ms")},
            registry=Registry(server.url),
            subject="orders-value",
        )
        row = {"id": 1, "name": "a", "tags": ["b"], "price": 0.5, "is_paid": True, "at": None}
        encoded = form.encode(pa.array([row, None], form.type))
        assert schema_id_of(encoded[0].as_py()) == 1
        assert form.decode(encoded).to_pylist() == [row, None]
        (registered,) = server.schemas
    assert registered["schemaType"] == "JSON"
    properties = json.loads(registered["schema"])["properties"]
    assert {name: each["type"] for name, each in properties.items()} == {
        "id": "integer",
        "name": "string",
        "tags": "array",
        "price": "number",
        "is_paid": "boolean",
        "at": "string",
    }


@pytest.mark.parametrize("bad", [b"", b"{}", b"\0\0\0", b"\1\0\0\0\1{}"])
def test_with_a_registry_a_value_without_a_number_is_refused(bad: bytes) -> None:
    form = Json(SCHEMA, registry=Registry("http://localhost:1"))
    with pytest.raises(ValueError, match="row 2: the value does not begin with the number"):
        form.decode(pa.array([None, b"\0\0\0\0\1{}", bad]))


def test_to_write_with_a_registry_a_subject_is_needed() -> None:
    form = Json(SCHEMA, registry=Registry("http://localhost:1"))
    with pytest.raises(ValueError, match="a subject is needed"):
        form.encode(pa.array([None], form.type))
