"""JSON to columns and back."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.arrow.json_values import Json

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
