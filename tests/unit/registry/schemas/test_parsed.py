"""The three kinds of schemas are read, brought into one form, and compared, in one way."""

import pytest

from moldau.registry.failures import InvalidSchema
from moldau.registry.schemas.parsed import differences, parse_schema

AVRO = '{"type":"record","name":"R","fields":[{"name":"x","type":"int"}]}'
JSON = '{"type":"object"}'
PROTO = 'syntax = "proto3";\n\nmessage R {\n  int32 x = 1;\n}\n'


@pytest.mark.parametrize(("kind", "text"), [("AVRO", AVRO), ("JSON", JSON), ("PROTOBUF", PROTO)])
def test_a_canonical_text_stays_and_reads_itself(kind: str, text: str) -> None:
    parsed = parse_schema(kind, text, {})
    assert parsed.text == text
    assert differences(parsed, parse_schema(kind, f"{text} \n", {}, normalize=True)) == []


def test_kinds_do_not_read_each_other() -> None:
    found = differences(parse_schema("AVRO", AVRO, {}), parse_schema("JSON", JSON, {}))
    assert [each.kind for each in found] == ["DIFFERENT_SCHEMA_TYPE"]


@pytest.mark.parametrize("kind", ["AVRO", "JSON"])
@pytest.mark.parametrize(
    "text",
    [
        "{",
        "NaN",
        '{"type":"record","name":"R","fields":[],"x":NaN}',
        "[" * 10_000,
        '{"items":' * 10_000 + "{}" + "}" * 10_000,
        "9" * 5000,
    ],
)
def test_bad_json_is_refused_whatever_it_is(kind: str, text: str) -> None:
    with pytest.raises(InvalidSchema):
        parse_schema(kind, text, {})


def test_ten_thousand_messages_within_each_other_are_refused() -> None:
    text = "message A {" * 10_000 + "}" * 10_000
    with pytest.raises(InvalidSchema):
        parse_schema("PROTOBUF", text, {})


def test_many_types_in_a_row_are_compared() -> None:
    chain = "".join(f"message A{n} {{ A{n + 1} x = 1; }}\n" for n in range(3000))
    text = f'syntax = "proto3";\n{chain}message A3000 {{}}\n'
    parsed = parse_schema("PROTOBUF", text, {})
    assert differences(parsed, parse_schema("PROTOBUF", text, {})) == []


def test_references_in_a_row_end_in_a_refusal() -> None:
    names = ",".join(f'"d{n}":{{"items":{{"$ref":"#/definitions/d{n + 1}"}}}}' for n in range(3000))
    one, other = (
        parse_schema("JSON", f'{{"definitions":{{{names},"d3000":{last}}},"items":{first}}}', {})
        for last in ("{}", "true")
        for first in ('{"$ref":"#/definitions/d0"}',)
    )
    with pytest.raises(InvalidSchema, match="deep"):
        differences(one, other)


def test_a_descriptor_is_what_serialized_means() -> None:
    serialized = parse_schema("PROTOBUF", PROTO, {}).serialized
    assert parse_schema("PROTOBUF", serialized, {}).text == PROTO
    assert parse_schema("AVRO", AVRO, {}).serialized == AVRO


def test_another_kind_is_refused() -> None:
    with pytest.raises(InvalidSchema, match="XML"):
        parse_schema("XML", "<a/>", {})
