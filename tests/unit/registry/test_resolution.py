"""Schemas are parsed with what they refer to."""

import pytest

from moldau.registry.failures import InvalidSchema
from moldau.registry.records import SchemaRecord, SchemaReference, StoredSchema
from moldau.registry.resolution import NewSchema, Resolution
from moldau.registry.subjects import Subjects


def record(name: str, of: str = "int") -> str:
    return f'{{"type":"record","name":"{name}","fields":[{{"name":"of","type":"{of}"}}]}}'


def keep(subjects: Subjects, subject: str, text: str, *used: str) -> StoredSchema:
    references = tuple(SchemaReference(name, name, 1) for name in used)
    schema_id = len(subjects.places) + 1
    schema = StoredSchema(subject, 1, schema_id, text, references=references)
    subjects.apply(SchemaRecord(subject, 1, schema))
    return schema


def test_references_are_followed() -> None:
    subjects = Subjects()
    keep(subjects, "A", record("A"))
    keep(subjects, "B", record("B", "A"), "A")
    new = NewSchema(record("C", "B"), references=(SchemaReference("B", "B", 1),))
    assert Resolution(subjects).parse(new).text == record("C", "B")


def test_one_that_is_not_there_is_said() -> None:
    new = NewSchema(record("B", "A"), references=(SchemaReference("A", "A", 3),))
    with pytest.raises(InvalidSchema, match='subject "A" and version 3'):
        Resolution(Subjects()).parse(new)


def test_a_circle_is_noticed() -> None:
    subjects = Subjects()
    first = keep(subjects, "A", record("A", "B"), "B")
    keep(subjects, "B", record("B", "A"), "A")
    with pytest.raises(InvalidSchema, match="circle"):
        Resolution(subjects).stored(first)


def test_a_chain_without_an_end_has_one() -> None:
    subjects = Subjects()
    keep(subjects, "S0", record("S0"))
    for number in range(1, 200):
        last = keep(subjects, f"S{number}", record(f"S{number}"), f"S{number - 1}")
    with pytest.raises(InvalidSchema, match="Too many"):
        Resolution(subjects).stored(last)


def test_what_was_parsed_is_remembered_until_it_changes() -> None:
    subjects = Subjects()
    schema = keep(subjects, "A", record("A"))
    resolution = Resolution(subjects)
    first = resolution.stored(schema)
    assert resolution.stored(schema) is first
    changed = StoredSchema("A", 1, 1, record("A2"))
    assert resolution.stored(changed) is not first


def test_only_so_many_are_remembered() -> None:
    subjects = Subjects()
    resolution = Resolution(subjects)
    for number in range(1100):
        resolution.stored(StoredSchema("A", number, number, '"int"'))
    assert len(resolution._remembered) == 1000
