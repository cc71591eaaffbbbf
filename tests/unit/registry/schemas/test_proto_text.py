"""A descriptor is written as Confluent's registry writes it."""

import pytest

from moldau.registry.schemas.proto_files import load
from moldau.registry.schemas.proto_parser import parse_proto
from moldau.registry.schemas.proto_text import json_name, proto_text
from unit.registry.schemas.proto_samples import EVERYTHING, OLDER


@pytest.mark.parametrize("text", [EVERYTHING, OLDER])
def test_a_canonical_text_stays_as_it_is(text: str) -> None:
    assert proto_text(load(text, {}).written) == text


def test_spaces_and_comments_do_not_matter() -> None:
    spread = EVERYTHING.replace(" = ", "\n/* x */ =\n").replace(";\n", "; // y\n")
    assert proto_text(parse_proto(spread)) == EVERYTHING


def test_normalized_the_order_of_declarations_does_not_matter() -> None:
    def normalized(fields: str) -> str:
        text = f'syntax = "proto3"; package p; message A {{ {fields} }} message B {{}}'
        return proto_text(load(text, {}).resolved, is_sorted=True)

    assert normalized("int32 x = 1; B b = 2;") == normalized(".p.B b = 2; int32 x = 1;")


def test_names_in_json_are_said_only_if_they_are_unusual() -> None:
    assert json_name("by_the_way") == "byTheWay"
    text = 'syntax = "proto3"; message A { int32 a_b = 1 [json_name = "aB"]; }'
    assert "json_name" not in proto_text(parse_proto(text))
