"""Options are set where they are known, and kept where they are not."""

import pytest
from google.protobuf import descriptor_pb2 as pb

from moldau.registry.failures import InvalidSchema
from moldau.registry.schemas.proto_options import option_lines, read_bracketed, read_option
from moldau.registry.schemas.proto_words import ProtoWords


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('java_package = "a\\"b";', 'java_package = "a\\"b"'),
        ("java_multiple_files=false;", "java_multiple_files = false"),
        ("optimize_for = LITE_RUNTIME;", "optimize_for = LITE_RUNTIME"),
        ("(a.b).c.d = -5;", "(a.b).c.d = -5"),
        ("(a) = 1.5;", "(a) = 1.5"),
        ("(a) = 0x10;", "(a) = 16"),
        ('(a) = "x" "y";', '(a) = "xy"'),
        ("(a) = NAME;", "(a) = NAME"),
        ('(a) = { b { c: [1, 2] d: "}" } };', '(a) = { b { c : [ 1 , 2 ] d : "}" } }'),
    ],
)
def test_an_option_goes_there_and_back(text: str, line: str) -> None:
    options = pb.FileOptions()
    read_option(ProtoWords(text), options)
    assert option_lines(options) == [line]


def test_those_of_fields_may_be_their_default_and_name() -> None:
    options, field = pb.FieldOptions(), pb.FieldDescriptorProto()
    words = ProtoWords('[default = -1.5, json_name = "X", deprecated = true]')
    read_bracketed(words, options, field)
    assert (field.default_value, field.json_name, options.deprecated) == ("-1.5", "X", True)
    assert words.is_over


@pytest.mark.parametrize(
    "text", ["java_multiple_files = maybe;", "optimize_for = NO;", "java_package = ;", "(a = 1;"]
)
def test_values_that_do_not_fit_are_refused(text: str) -> None:
    with pytest.raises(InvalidSchema):
        read_option(ProtoWords(text), pb.FileOptions())


def test_sorted_options_are_in_the_order_of_their_names() -> None:
    options = pb.FileOptions(java_package="x", cc_enable_arenas=True)
    assert option_lines(options, is_sorted=True) == sorted(option_lines(options))
