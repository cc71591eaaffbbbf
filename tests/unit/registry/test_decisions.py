"""What becomes of a request, by what is there."""

from collections.abc import Callable

import pytest

from moldau.registry.decisions import Decided, Decisions, version_number
from moldau.registry.failures import RegistryRefused
from moldau.registry.records import ModeRecord, SchemaRecord, SchemaReference, StoredSchema
from moldau.registry.resolution import NewSchema, Resolution
from moldau.registry.settings import Settings
from moldau.registry.subjects import Subjects


@pytest.fixture
def state() -> Decisions:
    subjects = Subjects()
    return Decisions(subjects, Resolution(subjects), Settings(subjects))


def record(*fields: str, name: str = "R") -> NewSchema:
    listed = ",".join(f'{{"name":"{each}","type":"int","default":0}}' for each in fields)
    return NewSchema(f'{{"type":"record","name":"{name}","fields":[{listed}]}}')


def store(state: Decisions, decided: Decided[StoredSchema]) -> StoredSchema:
    for each in decided.records:
        state.subjects.apply(each)
    return decided.answer


def registered(state: Decisions, subject: str, new: NewSchema) -> StoredSchema:
    return store(state, state.register(subject, new))


def refused(ask: Callable[[], object]) -> int:
    with pytest.raises(RegistryRefused) as found:
        ask()
    return found.value.code


def test_ids_are_of_schemas_and_versions_of_subjects(state: Decisions) -> None:
    first = registered(state, "a", record("x"))
    second = registered(state, "a", record("x", "y"))
    elsewhere = registered(state, "b", record("x", "y"))
    assert [(each.version, each.schema_id) for each in (first, second, elsewhere)] == [
        (1, 1),
        (2, 2),
        (1, 2),
    ]


def test_what_is_there_is_not_written_again(state: Decisions) -> None:
    registered(state, "a", record("x"))
    registered(state, "a", record("x", "y"))
    spaced = NewSchema(record("x").text.replace(",", " ,\n "))
    again = state.register("a", spaced)
    assert again.records == []
    assert again.answer.version == 1


def test_one_that_does_not_fit_is_refused_with_the_reason(state: Decisions) -> None:
    registered(state, "a", record("x"))
    other = NewSchema('{"type":"record","name":"R","fields":[{"name":"z","type":"int"}]}')
    with pytest.raises(RegistryRefused) as found:
        state.register("a", other)
    assert found.value.code == 409
    for word in ("READER_FIELD_MISSING_DEFAULT_VALUE", "'z'", "oldSchemaVersion: 1", "BACKWARD"):
        assert word in found.value.message
    reasons = state.is_compatible("a", "latest", other)
    assert reasons
    assert state.is_compatible("a", None, other) == reasons
    assert state.is_compatible("a", "1", record("x", "y")) == []
    assert state.is_compatible("none", "latest", other) == []
    assert refused(lambda: state.is_compatible("a", "7", other)) == 40402
    assert refused(lambda: state.is_compatible("none", "7", other)) == 40401
    state.subjects.apply(state.settings.set_config("a", {"compatibility": "NONE"}))
    assert registered(state, "a", other).version == 2


def test_what_another_registry_let_in_is_compared_or_named(state: Decisions) -> None:
    lax = '{"type":"record","name":"R","fields":[{"name":"x","type":"int","default":"none"}]}'
    assert refused(lambda: state.register("a", NewSchema(lax))) == 42201
    state.subjects.apply(SchemaRecord("a", 1, StoredSchema("a", 1, 1, lax)))
    assert registered(state, "a", record("x", "y")).version == 2
    state.subjects.apply(SchemaRecord("b", 1, StoredSchema("b", 1, 9, '{"type":"odd"}')))
    with pytest.raises(RegistryRefused, match="version 1 of b, which is stored, cannot"):
        state.register("b", record("x"))
    state.subjects.apply(SchemaRecord("b", 2, StoredSchema("b", 2, 10, '"int"')))
    assert registered(state, "b", NewSchema('"long"')).version == 3, "1 is not looked at"


def test_versions_are_looked_up(state: Decisions) -> None:
    registered(state, "a", record("x"))
    registered(state, "a", record("x", "y"))
    assert state.version("a", "latest").version == state.version("a", "-1").version == 2
    assert state.version("a", "1").schema_id == 1
    assert state.by_id(2).version == 2
    assert refused(lambda: state.version("a", "3")) == 40402
    assert refused(lambda: state.version("b", "1")) == 40401
    assert refused(lambda: state.version("a", "0")) == 42202
    assert refused(lambda: state.by_id(3)) == 40403
    assert state.look_up("a", record("x")).version == 1
    assert refused(lambda: state.look_up("a", record("z"))) == 40403
    assert refused(lambda: state.look_up("b", record("x"))) == 40401


@pytest.mark.parametrize("text", ["0", "-2", "x", "", "1.0", "²", str(2**31), "99999999999999"])
def test_what_is_no_version_is_refused(text: str) -> None:
    assert refused(lambda: version_number(text)) == 42202


def test_a_version_is_deleted_and_then_for_ever(state: Decisions) -> None:
    registered(state, "a", record("x"))
    registered(state, "a", record("x", "y"))
    assert refused(lambda: state.delete_version("a", "1", permanent=True)) == 40407
    for each in state.delete_version("a", "1", permanent=False).records:
        state.subjects.apply(each)
    assert refused(lambda: state.version("a", "1")) == 40402
    assert state.version("a", "1", deleted=True).is_deleted
    assert refused(lambda: state.delete_version("a", "1", permanent=False)) == 40406
    for each in state.delete_version("a", "1", permanent=True).records:
        state.subjects.apply(each)
    assert refused(lambda: state.version("a", "1", deleted=True)) == 40402
    assert state.delete_version("a", "latest", permanent=False).answer == 2


def test_a_subject_is_deleted_and_then_for_ever(state: Decisions) -> None:
    assert refused(lambda: state.delete_subject("a", permanent=False)) == 40401
    registered(state, "a", record("x"))
    state.subjects.apply(state.settings.set_config("a", {"compatibility": "NONE"}))
    assert refused(lambda: state.delete_subject("a", permanent=True)) == 40405
    deleted = state.delete_subject("a", permanent=False)
    assert deleted.answer == [1]
    for each in deleted.records:
        state.subjects.apply(each)
    assert "a" not in state.subjects.configs, "its settings go with it"
    assert refused(lambda: state.delete_subject("a", permanent=False)) == 40404
    for each in state.delete_subject("a", permanent=True).records:
        state.subjects.apply(each)
    assert refused(lambda: state.delete_subject("a", permanent=True)) == 40401
    assert registered(state, "a", record("x", "y")).schema_id == 2, "no id is given twice"


def test_a_deleted_schema_comes_back_with_its_id_as_a_new_version(state: Decisions) -> None:
    registered(state, "a", record("x"))
    for each in state.delete_subject("a", permanent=False).records:
        state.subjects.apply(each)
    back = registered(state, "a", record("x"))
    assert (back.version, back.schema_id) == (2, 1)
    assert [each.version for each in state.subjects.of("a", deleted=True)] == [2]


def test_what_others_refer_to_stays(state: Decisions) -> None:
    registered(state, "money", record("x", name="Money"))
    text = '{"type":"record","name":"Order","fields":[{"name":"m","type":"Money"}]}'
    used = NewSchema(text, references=(SchemaReference("Money", "money", 1),))
    registered(state, "order", used)
    assert refused(lambda: state.delete_version("money", "1", permanent=False)) == 42206
    assert refused(lambda: state.delete_subject("money", permanent=False)) == 42206
    for each in state.delete_subject("order", permanent=False).records:
        state.subjects.apply(each)
    for each in state.delete_subject("money", permanent=False).records:
        state.subjects.apply(each)
    assert refused(lambda: state.delete_subject("money", permanent=True)) == 42206


def test_ids_are_brought_along_in_import_mode_alone(state: Decisions) -> None:
    brought = NewSchema(record("x").text, schema_id=70, version=5)
    assert refused(lambda: state.register("a", brought)) == 42205
    state.subjects.apply(ModeRecord("a", "IMPORT"))
    assert refused(lambda: state.register("a", record("x"))) == 42205
    kept = registered(state, "a", brought)
    assert (kept.schema_id, kept.version) == (70, 5)
    other = NewSchema(record("z").text, schema_id=70)
    assert refused(lambda: state.register("a", other)) == 42205
    state.subjects.apply(ModeRecord("a", None))
    assert registered(state, "b", record("y")).schema_id == 71


def test_nothing_is_written_to_what_is_read_only(state: Decisions) -> None:
    registered(state, "a", record("x"))
    state.subjects.apply(ModeRecord(None, "READONLY"))
    for ask in (
        lambda: state.register("a", record("y")),
        lambda: state.delete_subject("a", permanent=False),
        lambda: state.delete_version("a", "1", permanent=False),
    ):
        assert refused(ask) == 42205
    assert state.look_up("a", record("x")).version == 1


def test_schemas_of_another_kind_do_not_fit(state: Decisions) -> None:
    registered(state, "a", record("x"))
    assert refused(lambda: state.register("a", NewSchema('{"type":"object"}', "JSON"))) == 409
    assert refused(lambda: state.register("a", NewSchema("{}", "XML"))) == 42201


def avro(*fields: str) -> str:
    return f'{{"type":"record","name":"R","fields":[{",".join(fields)}]}}'


X, Y = '{"name":"x","type":"int"}', '{"name":"y","type":"int"}'
Y_OR_0 = '{"name":"y","type":"int","default":0}'
PROTO = 'syntax = "proto3"; message A {{ {} x = 1; }} {}'
# Of each kind: an old schema, and new ones that read it, are read by it, do both, do neither.
PAIRS = {
    "AVRO": (avro(X), avro(), avro(X, Y), avro(X, Y_OR_0), avro('{"name":"x","type":"string"}')),
    "JSON": (
        '{"type":"integer","maximum":9}',
        '{"type":"number","maximum":9}',
        '{"type":"integer","maximum":5}',
        '{"type":"integer","maximum":9,"title":"t"}',
        '{"type":"string"}',
    ),
    "PROTOBUF": (
        PROTO.format("int32", "message B {}"),
        PROTO.format("int32", "message B {} message C {}"),
        PROTO.format("int32", ""),
        PROTO.format("int32", "message B { int32 y = 1; }"),
        PROTO.format("string", "message B {}"),
    ),
}
ACCEPTED = {
    "NONE": "reads read both neither",
    "BACKWARD": "reads both",
    "BACKWARD_TRANSITIVE": "reads both",
    "FORWARD": "read both",
    "FORWARD_TRANSITIVE": "read both",
    "FULL": "both",
    "FULL_TRANSITIVE": "both",
}


def level_of(state: Decisions, subject: str, level: str) -> None:
    state.subjects.apply(state.settings.set_config(subject, {"compatibility": level}))


@pytest.mark.parametrize("level", ACCEPTED)
@pytest.mark.parametrize("kind", PAIRS)
def test_pairs_of_schemas_by_levels(state: Decisions, kind: str, level: str) -> None:
    """By the specifications; Avro's are compared with Confluent's own rules in conformance."""
    old, *others = (NewSchema(text, kind) for text in PAIRS[kind])
    registered(state, "a", old)
    level_of(state, "a", level)
    fit = {
        name: not state.is_compatible("a", None, new)
        for name, new in zip(("reads", "read", "both", "neither"), others, strict=True)
    }
    assert [name for name, is_fit in fit.items() if is_fit] == ACCEPTED[level].split()


@pytest.mark.parametrize("level", ACCEPTED)
@pytest.mark.parametrize("kind", PAIRS)
def test_transitive_levels_look_at_all_versions(state: Decisions, kind: str, level: str) -> None:
    old, *_, both, neither = (NewSchema(text, kind) for text in PAIRS[kind])
    level_of(state, "a", "NONE")
    registered(state, "a", neither)
    registered(state, "a", old)
    level_of(state, "a", level)
    assert bool(state.is_compatible("a", None, both)) == level.endswith("_TRANSITIVE")
