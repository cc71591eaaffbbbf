"""Avro schemas are read, and written as Java's library writes them."""

import json

import pytest

from moldau.registry.failures import InvalidSchema
from moldau.registry.schemas.avro import Names, canonical, parse

FIELD = '{"name":"f","type":"int"}'


def again(text: str, *, is_sorted: bool = False) -> str:
    return canonical(parse(json.loads(text), {}), is_sorted=is_sorted)


# As `Schema.toString()` of Avro 1.11 writes them.
_WITH_A_FIELD = (
    (
        '{"type":"record","name":"R","fields":[{"type":["null","int"],"name":"f","default":null,'
        '"order":"descending","aliases":["g"],"doc":"d","x":1}]}'
    ),
    (
        '{"type":"record","name":"R","fields":[{"name":"f","type":["null","int"],"doc":"d",'
        '"default":null,"order":"descending","aliases":["g"],"x":1}]}'
    ),
)
_WITH_NAMESPACES = (
    (
        '{"type":"record","name":"a.R","fields":[{"name":"x","type":{"type":"fixed","name":"b.F",'
        '"size":1}},{"name":"y","type":"b.F"},{"name":"z","type":["null","R"]}]}'
    ),
    (
        '{"type":"record","name":"R","namespace":"a","fields":[{"name":"x","type":{"type":"fixed",'
        '"name":"F","namespace":"b","size":1}},{"name":"y","type":"b.F"},{"name":"z","type":'
        '["null","R"]}]}'
    ),
)
FORMS = [
    (' "string" ', '"string"'),
    ('{"type":"string"}', '"string"'),
    ('{"type":{"type":"string"}}', '"string"'),
    (
        '{"type":"string","avro.java.string":"String"}',
        '{"type":"string","avro.java.string":"String"}',
    ),
    ('["null", {"type":"array","items":"int"}]', '["null",{"type":"array","items":"int"}]'),
    ('{"values":"long","type":"map"}', '{"type":"map","values":"long"}'),
    (
        '{"type":"bytes","scale":2,"logicalType":"decimal","precision":4}',
        '{"type":"bytes","scale":2,"logicalType":"decimal","precision":4}',
    ),
    (
        '{"type":"record","namespace":"a.b","name":"R","doc":"d","fields":[],"aliases":["Q"]}',
        '{"type":"record","name":"R","namespace":"a.b","doc":"d","fields":[],"aliases":["Q"]}',
    ),
    (
        '{"type":"record","name":"a.b.R","fields":[]}',
        '{"type":"record","name":"R","namespace":"a.b","fields":[]}',
    ),
    _WITH_A_FIELD,
    (
        '{"type":"enum","symbols":["A","B"],"name":"E","default":"A"}',
        '{"type":"enum","name":"E","symbols":["A","B"],"default":"A"}',
    ),
    ('{"size":4,"type":"fixed","name":"F"}', '{"type":"fixed","name":"F","size":4}'),
    _WITH_NAMESPACES,
]


@pytest.mark.parametrize(("text", "form"), FORMS)
def test_the_canonical_form_is_javas(text: str, form: str) -> None:
    assert again(text) == form
    assert again(form) == form


def test_normalized_properties_are_sorted() -> None:
    text = '{"type":"bytes","scale":2,"logicalType":"decimal","precision":4}'
    assert again(text, is_sorted=True) == (
        '{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}'
    )


@pytest.mark.parametrize(
    "text",
    [
        '"nothing"',
        "7",
        "{}",
        "null",
        '{"type":"array"}',
        '{"type":"map","items":"int"}',
        '{"type":"record","fields":[]}',
        '{"type":"record","name":"R"}',
        '{"type":"record","name":"R","fields":{}}',
        '{"type":"record","name":"R","fields":[7]}',
        '{"type":"record","name":"R","fields":[{"name":"f"}]}',
        '{"type":"record","name":"1R","fields":[]}',
        '{"type":"record","name":"a..R","fields":[]}',
        '{"type":"record","name":"R","fields":[{"name":"a-b","type":"int"}]}',
        f'{{"type":"record","name":"R","fields":[{FIELD},{FIELD}]}}',
        '{"type":"record","name":"R","fields":[{"name":"f","type":"int","default":"x"}]}',
        '{"type":"record","name":"R","fields":[{"name":"f","type":"int","default":true}]}',
        '{"type":"record","name":"R","fields":[{"name":"f","type":"int","default":2147483648}]}',
        '{"type":"record","name":"R","fields":[{"name":"f","type":["int","null"],"default":null}]}',
        '{"type":"record","name":"R","fields":[{"name":"f","type":"int","order":"up"}]}',
        '{"type":"enum","name":"E"}',
        '{"type":"enum","name":"E","symbols":["A","A"]}',
        '{"type":"enum","name":"E","symbols":["a b"]}',
        '{"type":"enum","name":"E","symbols":["A"],"default":"B"}',
        '{"type":"fixed","name":"F"}',
        '{"type":"fixed","name":"F","size":-1}',
        '{"type":"fixed","name":"F","size":true}',
        '["int","int"]',
        '["int",["null"]]',
        '[{"type":"fixed","name":"F","size":1},{"type":"fixed","name":"F","size":1}]',
        '["F",{"type":"fixed","name":"F","size":1}]',
    ],
)
def test_what_is_no_schema_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchema):
        again(text)


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ('"null"', "null"),
        ('"boolean"', "true"),
        ('"long"', "9223372036854775807"),
        ('"double"', "1"),
        ('"bytes"', '"\\u00ff"'),
        ('{"type":"array","items":"int"}', "[1]"),
        ('{"type":"map","values":"int"}', '{"a":1}'),
        ('["int","null"]', "1"),
        (f'{{"type":"record","name":"I","fields":[{FIELD}]}}', '{"f":1}'),
    ],
)
def test_defaults_are_values_of_their_type(kind: str, default: str) -> None:
    field = f'{{"name":"x","type":{kind},"default":{default}}}'
    again(f'{{"type":"record","name":"R","fields":[{field}]}}')


def test_names_of_others_are_known_and_not_declared_again() -> None:
    names: Names = {}
    parse(json.loads('{"type":"fixed","name":"a.F","size":1}'), names)
    known = set(names)
    text = '{"type":"record","name":"a.R","fields":[{"name":"f","type":"F"}]}'
    assert canonical(parse(json.loads(text), names), known=known) == (
        '{"type":"record","name":"R","namespace":"a","fields":[{"name":"f","type":"F"}]}'
    )
