"""Confluent's own rules for Avro, asked beside ours: canonical texts, and what fits what."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.apache.lines import JavaError, JavaProgram
from conformance.apache.marks import needs_apache
from moldau.registry.failures import InvalidSchema
from moldau.registry.levels import CompatibilityLevel, incompatibilities
from moldau.registry.schemas.parsed import differences, parse_schema
from unit.registry.schemas.test_avro import FORMS
from unit.registry.schemas.test_avro_reading import PAIRS, schemas

# Ours reads it; this release of Avro does not.
NESTED = '{"type":{"type":"string"}}'

pytestmark = needs_apache("registry-client-7.5", "json")


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProgram]:
    with JavaProgram("schemas", "registry-client-7.5", "json") as program:
        yield program


def refused(new: object, *older: object) -> dict[str, bool]:
    """By which levels a schema is refused beside these versions."""
    parsed, *others = (parse_schema("AVRO", json.dumps(each), {}) for each in (new, *older))
    return {
        level.value: incompatibilities(level, parsed, others, differences) is not None
        for level in CompatibilityLevel
    }


def refused_by_java(java: JavaProgram, new: object, *older: object) -> dict[str, bool]:
    texts = [json.dumps(each) for each in older]
    found: dict[str, bool] = java.call("incompatibilities", text=json.dumps(new), older=texts)
    return found


@pytest.mark.parametrize("text", [text for text, _ in FORMS if text != NESTED])
def test_canonical_texts_are_confluents(java: JavaProgram, text: str) -> None:
    ours = [parse_schema("AVRO", text, {}, normalize=each).text for each in (False, True)]
    assert ours == java.call("canonical", text=text)


def test_pairs_of_schemas_by_levels(java: JavaProgram) -> None:
    """A table of pairs and levels, both ways."""
    for reader, writer, _ in PAIRS:
        assert refused(reader, writer) == refused_by_java(java, reader, writer), (reader, writer)
        assert refused(writer, reader) == refused_by_java(java, writer, reader), (writer, reader)


@settings(max_examples=100, deadline=None)
@given(new=schemas, older=st.lists(schemas, min_size=1, max_size=3))
def test_histories_of_schemas_by_levels(java: JavaProgram, new: Any, older: list[Any]) -> None:
    assert refused(new, *older) == refused_by_java(java, new, *older)


# What either says of texts that are no schema, or hardly one.
STRANGE = [
    '{"type":"record","name":"R","fields":[{"name":"f","type":"int","default":"x"}]}',
    '{"type":"record","name":"R","fields":[{"name":"f","type":"int"},{"name":"f","type":"int"}]}',
    '{"type":"record","name":"1","fields":[]}',
    '{"type":"enum","name":"E","symbols":["A","A"]}',
    '{"type":"enum","name":"E","symbols":["A"],"default":"B"}',
    '["int","int"]',
    '[["int"]]',
    '{"type":"fixed","name":"F","size":-1}',
    '{"type":"bytes","logicalType":"decimal","precision":0}',
    '{"type":"unknown"}',
    '{"type":"array"}',
    "{}",
    '""',
]


@pytest.mark.parametrize("text", STRANGE)
def test_what_is_no_schema_to_confluents_is_none_to_us(java: JavaProgram, text: str) -> None:
    try:
        theirs = java.call("canonical", text=text)
    except JavaError:
        theirs = None
    try:
        ours = [parse_schema("AVRO", text, {}, normalize=each).text for each in (False, True)]
    except InvalidSchema:
        ours = None
    assert ours == theirs
