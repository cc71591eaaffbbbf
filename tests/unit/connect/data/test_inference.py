"""Plain JSON gets a schema that holds all of it."""

from moldau.connect.data.inference import fitted, inferred
from moldau.connect.data.schema import Kind


def test_what_differs_is_merged_and_what_cannot_be_is_text() -> None:
    schema = inferred([{"a": 1, "b": 1}, {"a": 1.5, "b": "x", "c": None}, None])
    kinds = {each.name: each.schema.kind for each in schema.fields}
    assert kinds == {"a": Kind.FLOAT64, "b": Kind.STRING, "c": Kind.STRING}
    assert fitted(schema, {"a": 1, "b": 1}) == {"a": 1.0, "b": "1", "c": None}


def test_lists_and_truth_values_stay() -> None:
    schema = inferred([[True], [False, None]])
    assert schema.kind is Kind.ARRAY
    assert fitted(schema, [True, None]) == [True, None]
    assert inferred([]).kind is Kind.STRING
