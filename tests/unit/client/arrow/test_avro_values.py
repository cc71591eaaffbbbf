"""Avro to columns and back, alone and with a registry."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.arrow.avro_values import Avro
from moldau.client.registry import Registry, schema_id_of
from unit.client.registry_server import registry_server

ID = {"name": "id", "type": "long"}
NOTE = {"name": "note", "type": ["null", "string"], "default": None}
TAGS = {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []}
ORDER: dict[str, object] = {"type": "record", "name": "Order", "fields": [ID, NOTE, TAGS]}
OLD: dict[str, object] = {"type": "record", "name": "Order", "fields": [ID]}

rows_of = st.lists(
    st.none()
    | st.fixed_dictionaries(
        {
            "id": st.integers(-(2**63), 2**63 - 1),
            "note": st.none() | st.text(st.characters(codec="utf-8"), max_size=5),
            "tags": st.lists(st.text("ab", max_size=3), max_size=3),
        }
    ),
    max_size=10,
)


@given(rows_of)
def test_what_is_encoded_is_decoded(rows: list[dict[str, object] | None]) -> None:
    form = Avro(ORDER)
    assert form.decode(form.encode(pa.array(rows, form.type))).to_pylist() == rows


def test_bytes_that_are_not_of_the_schema_are_an_error_that_says_where() -> None:
    form = Avro(ORDER)
    good = form.encode(pa.array([{"id": 1, "note": None, "tags": []}], form.type))[0].as_py()
    with pytest.raises(ValueError, match="row 1 is not Avro of this schema"):
        form.decode(pa.array([good, b"\x02\x09"]))


def test_a_registry_knows_what_values_were_written_with() -> None:
    with registry_server() as server:
        registry = Registry(server.url)
        old = Avro(OLD, registry=registry, subject="orders-value")
        new = Avro(ORDER, registry=Registry(server.url), subject="orders-value")
        first = old.encode(pa.array([{"id": 1}], old.type))
        second = new.encode(pa.array([{"id": 2, "note": "n", "tags": ["t"]}, None], new.type))
        values = pa.concat_arrays([first, second])
        assert [schema_id_of(each.as_py()) for each in values[:2]] == [1, 2]
        assert new.decode(values).to_pylist() == [
            {"id": 1, "note": None, "tags": []},
            {"id": 2, "note": "n", "tags": ["t"]},
            None,
        ]
        with pytest.raises(ValueError, match=r"row 0 .*number of a schema"):
            new.decode(pa.array([b"raw"]))
        with pytest.raises(ValueError, match="a subject is needed"):
            Avro(ORDER, registry=registry).encode(values)
