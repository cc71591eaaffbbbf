"""Filters are read, and what is none is said with its place."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.console.filters.language import (
    Both,
    Condition,
    Either,
    Filter,
    FilterError,
    Not,
    TextAnywhere,
    parse,
)

USER = Condition("value", ("user",), "=", "anna")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", None),
        ("timeout", TextAnywhere("timeout")),
        ('"a b"', TextAnywhere("a b")),
        ("42", TextAnywhere("42")),
        ('value.user = "anna"', USER),
        ("value.user=anna", USER),
        ("value.user = anna and timeout", Both(USER, TextAnywhere("timeout"))),
        ("a or b and c", Either(TextAnywhere("a"), Both(TextAnywhere("b"), TextAnywhere("c")))),
        ("(a or b) and c", Both(Either(TextAnywhere("a"), TextAnywhere("b")), TextAnywhere("c"))),
        ("not not a", Not(Not(TextAnywhere("a")))),
        ("value.n >= -1.5", Condition("value", ("n",), ">=", -1.5)),
        ("value.ok = true", Condition("value", ("ok",), "=", True)),
        ("value.big = 9007199254740993", Condition("value", ("big",), "=", 9007199254740993)),
        ("value.a.0.b != null", Condition("value", ("a", "0", "b"), "!=", None)),
        ("key is not null", Not(Condition("key", (), "is null", None))),
        ("value is empty", Condition("value", (), "is empty", None)),
        ("headers.trace.id = x", Condition("headers", ("trace.id",), "=", "x")),
        ('key matches "a+"', Condition("key", (), "matches", "a+")),
        ("offset < 10", Condition("offset", (), "<", 10)),
        ('timestamp > "1970-01-01T00:00:01Z"', Condition("timestamp", (), ">", 1000)),
        (r'"a\"b\\"', TextAnywhere('a"b\\')),
        ("value", TextAnywhere("value")),
    ],
)
def test_a_filter_is_read(text: str, found: Filter | None) -> None:
    assert parse(text) == found


@pytest.mark.parametrize(
    "text",
    [
        *("a b", "(a", "a)", "value =", "value = (", '"open', "nothing.x = 1", "offset = x"),
        *("offset contains 1", "headers = 1", "offset.x = 1", "key is", "timestamp > now", "="),
        *("!", "(" * 60 + "a" + ")" * 60, "not " * 60 + "a", "x" * 5000),
        *('timestamp > "2026-01-01"', "value < (", "() a"),
    ],
)
def test_what_is_no_filter_is_refused(text: str) -> None:
    with pytest.raises(FilterError):
        parse(text)


@given(st.text(alphabet="ab .=!<>()\"'\\0not valueorandkey", max_size=60))
def test_any_text_is_a_filter_or_refused(text: str) -> None:
    with suppress(FilterError):
        parse(text)
