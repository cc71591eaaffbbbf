"""The state is what the records say, in their order."""

from collections.abc import Sequence

import pytest

from moldau.registry.records import (
    ConfigRecord,
    ModeRecord,
    NoopRecord,
    RegistryRecord,
    Rubbish,
    SchemaRecord,
    SchemaReference,
    StoredSchema,
    SubjectClearing,
    SubjectDeletion,
)
from moldau.registry.subjects import Subjects


def schema(
    subject: str, version: int, schema_id: int, text: str = "", references: Sequence[str] = ()
) -> SchemaRecord:
    used = tuple(SchemaReference(name, name, 1) for name in references)
    stored = StoredSchema(subject, version, schema_id, text or f'"{schema_id}"', references=used)
    return SchemaRecord(subject, version, stored)


def after(*records: RegistryRecord) -> Subjects:
    subjects = Subjects()
    for each in records:
        subjects.apply(each)
    return subjects


def test_versions_are_in_their_order_whatever_that_of_the_records() -> None:
    subjects = after(schema("a", 2, 2), schema("a", 1, 1), schema("b", 1, 1))
    assert [each.version for each in subjects.of("a")] == [1, 2]
    assert subjects.names() == ["a", "b"]
    assert list(subjects.places[1]) == [("a", 1), ("b", 1)]


def test_an_id_is_found_by_its_schema_until_the_last_version_with_it_is_gone() -> None:
    subjects = after(schema("a", 1, 1), schema("b", 1, 1))
    assert subjects.id_of("AVRO", '"1"') == 1
    assert subjects.id_of("JSON", '"1"') is None
    subjects.apply(SchemaRecord("a", 1, None))
    assert subjects.by_id(1) is not None
    subjects.apply(SchemaRecord("b", 1, None))
    assert subjects.by_id(1) is None
    assert subjects.id_of("AVRO", '"1"') is None
    assert subjects.names(deleted=True) == []


def test_a_second_schema_with_an_id_that_is_taken_is_refused() -> None:
    subjects = after(schema("a", 1, 1, '"x"'))
    with pytest.raises(Rubbish, match="id 1"):
        subjects.apply(schema("b", 1, 1, '"y"'))
    assert subjects.names() == ["a"]


def test_a_version_may_be_written_again() -> None:
    subjects = after(schema("a", 1, 1, '"x"'), schema("a", 1, 1, '"y"'))
    assert subjects.of("a")[0].text == '"y"'
    assert subjects.id_of("AVRO", '"x"') is None


def test_the_text_of_a_schema_is_kept_once() -> None:
    subjects = after(*(schema(name, 1, 1, "x" * 100 + name[:0]) for name in "abc"))
    assert len({id(subjects.of(name)[0].text) for name in "abc"}) == 1


def test_a_subject_is_deleted_up_to_a_version() -> None:
    subjects = after(schema("a", 1, 1), schema("a", 2, 2), SubjectDeletion("a", 1))
    assert [each.version for each in subjects.of("a")] == [2]
    assert [each.version for each in subjects.of("a", deleted=True)] == [1, 2]
    assert [each.version for each in subjects.of("a", deleted_only=True)] == [1]
    assert subjects.by_id(1) is not None, "values that were written with it are still there"
    assert subjects.names(deleted_only=True) == ["a"]
    subjects.apply(SubjectClearing("a"))
    assert [each.version for each in subjects.of("a", deleted=True)] == [2]
    subjects.apply(SubjectDeletion("a", None))
    assert [each.version for each in subjects.of("a")] == [2]


def test_the_highest_id_is_remembered_when_its_schema_is_gone() -> None:
    subjects = after(schema("a", 1, 5), SchemaRecord("a", 1, None))
    assert subjects.highest_id == 5
    assert after(NoopRecord(9), schema("a", 1, 5)).highest_id == 9


def test_it_is_known_who_refers_to_whom() -> None:
    subjects = after(schema("money", 1, 1), schema("order", 1, 2, references=["money"]))
    assert [each.subject for each in subjects.referrers(("money", 1))] == ["order"]
    subjects.apply(SchemaRecord("order", 1, None))
    assert subjects.referrers(("money", 1)) == []


def test_settings_come_and_go() -> None:
    subjects = after(ConfigRecord(None, {"compatibilityLevel": "FULL"}), ModeRecord("a", "IMPORT"))
    assert subjects.configs[None]["compatibilityLevel"] == "FULL"
    assert (subjects.mode_of("a"), subjects.mode_of("b")) == ("IMPORT", "READWRITE")
    subjects.apply(ModeRecord(None, "READONLY"))
    subjects.apply(ModeRecord("a", None))
    assert subjects.mode_of("a") == "READONLY"
    subjects.apply(ConfigRecord(None, None))
    subjects.apply(ConfigRecord(None, None))
    assert not subjects.configs
