"""Nested names of fields (KIP-821)."""

import pytest

from moldau.connect.data.record import Datum
from moldau.connect.data.schema import INT32, STRING, map_of, struct
from moldau.connect.errors import ConfigError, DataError
from moldau.connect.transforms.paths import found_at, path_of


@pytest.mark.parametrize(
    ("text", "version", "path"),
    [
        ("a.b", "V1", ["a.b"]),
        ("a.b", "V2", ["a", "b"]),
        ("`a.b`.c", "V2", ["a.b", "c"]),
        ("a.`b.c`", "V2", ["a", "b.c"]),
    ],
)
def test_a_path_has_steps(text: str, version: str, path: list[str]) -> None:
    assert path_of({"field": text, "field.syntax.version": version}, "field") == path


def test_a_backtick_alone_is_refused() -> None:
    with pytest.raises(ConfigError, match="Incomplete backtick pair"):
        path_of({"field": "`a", "field.syntax.version": "V2"}, "field")


def test_structs_know_their_fields_and_maps_do_not() -> None:
    datum = Datum({"a": {"b": 1}}, struct([("a", map_of(STRING, INT32))]))
    assert found_at(datum, ["a", "b"]) == Datum(1, INT32)
    assert found_at(datum, ["x"]) is None
    assert found_at(Datum({"a": 1}), ["x"]) == Datum()
    with pytest.raises(DataError, match="has no fields"):
        found_at(Datum(1, INT32), ["x"])
