"""The language of patterns."""

import string

import pytest

from moldau.coordinator.group.consumer.pattern import TopicPattern
from moldau.coordinator.group.consumer.pattern_syntax import (
    NAME_CHARACTERS,
    Anchor,
    Choice,
    InvalidPattern,
    OneOf,
    Repeat,
    Sequence,
    parse,
)

A = OneOf(frozenset("a"))


def test_an_expression_becomes_a_tree() -> None:
    assert parse("") == Sequence(())
    assert parse("a*|^a{2,3}$") == Choice(
        (
            Sequence((Repeat(A, 0, None),)),
            Sequence((Anchor("start"), Repeat(A, 2, 3), Anchor("end"))),
        )
    )


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        (".", NAME_CHARACTERS),
        (r"\d", string.digits),
        (r"\D", set(NAME_CHARACTERS) - set(string.digits)),
        (r"\s", ""),
        (r"\S", NAME_CHARACTERS),
        ("[a-cx]", "abcx"),
        ("[a-a]", "a"),
        ("[]a]", "a"),
        ("[a-]", "a-"),
        ("[-a]", "a-"),
        ("[^a-zA-Z0-9]", "._-"),
        (r"[\d\.]", string.digits + "."),
        (r"[\x61-\x{63}]", "abc"),
        ("[[:lower:]_]", string.ascii_lowercase + "_"),
        ("[[:^alnum:]]", "._-"),
        ("(?i)[a-b]", "abAB"),
        ("(?i)a", "aA"),
        ("(?i:a)", "aA"),
        ("(?i-i)a", "a"),
        ("(?i-:a)", "aA"),
        ("(?msU)a", "a"),
        (r"\.", "."),
        (r"\x2d", "-"),
        (r"\n", ""),
        ("é", ""),
        ("(?P<name>a)", "a"),
        ("(?<name>a)", "a"),
        (r"\Qa", "a"),
    ],
)
def test_these_are_one_character(text: str, characters: str) -> None:
    pattern = TopicPattern(text)
    assert {each for each in NAME_CHARACTERS if pattern.matches(each)} == set(characters)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (r"\Qa.b\E-c", "a.b-c"),
        (r"\Aab\z", "ab"),
        ("((?i)a)b", "Ab"),
        ("a??b*?", "ab"),
        ("a{2}?b", "aab"),
        ("a{2,}", "aaaa"),
        ("(a|b|)c", "c"),
        (r"a\b-", "a-"),
        (r"a\Bb", "ab"),
    ],
)
def test_these_match(text: str, name: str) -> None:
    assert TopicPattern(text).matches(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [("((?i)a)b", "AB"), (r"a\bb", "ab"), (r"\Q.\E", "a"), ("a{,2}", "a"), ("a{x", "a")],
)
def test_these_do_not_match(text: str, name: str) -> None:
    assert not TopicPattern(text).matches(name)


@pytest.mark.parametrize(
    "text",
    [
        *("(", ")", "a)", "[", "[a", "[b-a]", "*", "+a", "a**", "a*+", "\\", r"\1", r"\Z"),
        *("(?=a)", "(?!a)", "(?<=a)", "(?>a)", "(?P<1>a)", "(?P<a", "(?--i)", "(?"),
        *("a{2}{2}", "a{2}?{2}", "a*{2}", "(?:(?:a{10}){10}){11}", "(?:a{0,501}){2}"),
        *("a{3,2}", "a{1001}", "a{" + "9" * 4900 + "}"),
        *(r"\xzz", r"\x{110000}", "[[:none:]]", "[[:alpha", "(" * 200),
    ],
)
def test_what_re2_has_not_is_refused(text: str) -> None:
    with pytest.raises(InvalidPattern):
        parse(text)


def test_a_repetition_of_a_thousand_is_the_largest_whatever_it_is_made_of() -> None:
    parse("(?:(?:a{10}){10}){10}")
    parse("(?:(?:a{0,10}){10,})*")


def test_braces_that_count_nothing_are_characters() -> None:
    assert parse("a{b") == parse(r"a\{b")
    assert parse("a{,2}") == parse(r"a\{,2\}")
    assert parse("a{٣}") == parse(r"a\{٣\}")


@pytest.mark.parametrize("text", ["a" * 2001, "|" * 2001, "()" * 2001, "[" + "a" * 10_000 + "]"])
def test_a_long_text_is_refused_before_it_is_all_read(text: str) -> None:
    with pytest.raises(InvalidPattern, match="too large"):
        parse(text)


@pytest.mark.parametrize(
    ("largest", "more"),
    [
        ("a" * 1999, "a"),
        (r"\Q" + "a" * 1999, "a"),
        ("|" * 1999, "|"),
        ("[" + "a" * 4998 + "]", "a"),
        ("(" * 100 + ")" * 100, "(" * 101 + ")" * 101),
    ],
    ids=["characters", "quoted", "branches", "text", "depth"],
)
def test_the_limits_are_these(largest: str, more: str) -> None:
    parse(largest)
    with pytest.raises(InvalidPattern, match=r"too large|too deeply"):
        parse(largest + more)
