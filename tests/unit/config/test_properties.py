"""Java's properties text."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.config.properties import (
    decode_properties,
    format_properties,
    parse_overrides,
    parse_properties,
)
from moldau.errors import InvalidConfig

_JAVA = Path(__file__).parent / "java-properties.jsonl"


def test_texts_are_read_as_java_reads_them() -> None:
    """The file holds texts with what java.util.Properties makes of them; null: refused."""
    for line in _JAVA.read_text().splitlines():
        text, expected = json.loads(line)
        try:
            parsed = parse_properties(text)
        except InvalidConfig:
            parsed = None
        assert parsed == expected, text


def test_a_bad_unicode_escape_is_shown() -> None:
    with pytest.raises(InvalidConfig, match="4 hexadecimal digits"):
        parse_properties("key=\\u00g1")


def test_bytes_are_utf8_or_else_latin_1() -> None:
    assert decode_properties("key=é".encode()) == {"key": "é"}
    assert decode_properties("key=é".encode("latin-1")) == {"key": "é"}


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(_TEXTS, _TEXTS))
def test_what_is_written_reads_back(values: dict[str, str]) -> None:
    written = format_properties(values, comments=["a comment"])
    assert written.isascii()
    assert parse_properties(written) == values


def test_written_lines_look_as_java_writes_them() -> None:
    assert format_properties({"a b": " x=y", "é": "1"}, ["now"]) == (
        "#now\na\\ b=\\ x\\=y\n\\u00E9=1\n"
    )


def test_overrides_are_key_and_value() -> None:
    assert parse_overrides(["a=b", "c=d=e", "f="]) == {"a": "b", "c": "d=e", "f": ""}


@pytest.mark.parametrize("argument", ["a", "=b", ""])
def test_an_override_without_key_or_value_is_refused(argument: str) -> None:
    with pytest.raises(InvalidConfig, match="must be key=value"):
        parse_overrides([argument])
