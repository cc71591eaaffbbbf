"""Schemas survive their JSON."""

import pytest

from moldau.connect.converters.json_schema_nodes import node_of, schema_of_node
from moldau.connect.data.schema import INT32, STRING, array, decimal, map_of, optional, struct
from moldau.connect.errors import DataError


def test_a_schema_is_written_as_apache_does_and_read_back() -> None:
    schema = struct(
        [
            ("id", INT32.but(default=0)),
            ("d", optional(decimal(2))),
            ("l", array(STRING)),
            ("m", map_of(STRING, INT32, doc="x")),
        ],
        name="row",
        version=1,
    )
    node = node_of(schema)
    assert list(node) == ["type", "fields", "optional", "name", "version"]
    first = node["fields"]
    assert isinstance(first, list)
    assert first[0] == {"type": "int32", "optional": False, "default": 0, "field": "id"}
    assert schema_of_node(node) == schema


@pytest.mark.parametrize(
    "node",
    [{"type": "x"}, 5, {"type": "struct"}, {"type": "array"}, {"type": "struct", "fields": [None]}],
)
def test_what_is_no_schema_is_refused(node: object) -> None:
    with pytest.raises(DataError):
        schema_of_node(node)


def test_null_means_plain_data() -> None:
    assert schema_of_node(None) is None
