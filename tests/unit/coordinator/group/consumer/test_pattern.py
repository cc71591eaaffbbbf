"""Patterns of topics."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.coordinator.group.consumer.pattern import TopicPattern, check_pattern
from moldau.errors import ErrorCode, KafkaError

ATOMS = st.sampled_from(
    ["a", "b", "_", r"\-", r"\.", ".", "[ab]", "[^a]", r"\w", r"\d", r"\b", "^", "$"]
)
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join).map("(?:{})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS, st.lists(st.text("ab_-.1", max_size=8), max_size=8))
def test_names_are_matched_as_python_matches_them(expression: str, names: list[str]) -> None:
    pattern, known = TopicPattern(expression), re.compile(expression)
    for name in names:
        assert pattern.matches(name) == (known.fullmatch(name) is not None)


def test_whole_names_are_matched() -> None:
    assert TopicPattern("t.*").matches("topic")
    assert not TopicPattern("t").matches("topic")
    assert not TopicPattern("topics").matches("topic")


def test_no_expression_takes_forever() -> None:
    pattern = TopicPattern("(a+)+(a+)+(a|a)*(.*)*b")
    assert not pattern.matches("a" * 249)
    assert pattern.matches("a" * 248 + "b")


def test_states_are_forgotten_when_there_are_too_many() -> None:
    pattern = TopicPattern("(a|b)*a(a|b){11}")
    names = [f"{number:013b}".replace("0", "a").replace("1", "b") for number in range(2**13)]
    matching = [name for name in names if pattern.matches(name)]
    assert matching == [name for name in names if name[-12] == "a"]


@pytest.mark.parametrize(
    "text",
    [
        *("(", "(){1000}{1000}{1000}", "((((a{9}){9}){9}){9})", "(?:abc){1000}", "a{" * 2000),
        # Nothing, repeated, adds no steps: it is work all the same.
        *("(?:" + "()" * 1000 + "){1000}", "(?:" + "a{0}" * 1000 + "){1000}"),
    ],
)
def test_what_is_no_pattern_or_too_large_is_refused(text: str) -> None:
    for read in (TopicPattern, check_pattern):
        with pytest.raises(KafkaError) as caught:
            read(text)
        assert caught.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION


# Each is at hundreds of places of the expression at once.
COSTLY = ["(.*.){400}", "(?:" + "|".join(f".{{{n}}}" for n in range(20, 60)) + ")*"]


@pytest.mark.parametrize("text", COSTLY)
def test_an_expression_that_takes_too_long_for_a_name_is_refused(text: str) -> None:
    pattern = TopicPattern(text)
    assert not pattern.matches("a")
    with pytest.raises(KafkaError, match="too long"):
        pattern.matches("a" * 249)
    assert pattern.work < 30_000


def test_an_expression_that_takes_too_long_for_all_names_is_refused() -> None:
    pattern = TopicPattern(".*a.{300}")
    draw = Random(1)
    names = ["".join(draw.choices("ab", k=240)) for _ in range(300)]
    with pytest.raises(KafkaError, match="too long"):
        list(map(pattern.matches, names))
    assert pattern.work < 2_100_000


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("orders-.{1,200}", "orders-" + "a" * 200),
        (".*(" + "|".join(f"{n:06x}" for n in range(0, 99_999, 400)) + ").*", "x" * 200 + "000190"),
        ("(a?b?c?d?){249}", "abcd" * 62),
        ("(" * 99 + "a*" + ")*" * 99, "a" * 249),
    ],
)
def test_long_expressions_that_people_write_are_matched(text: str, name: str) -> None:
    pattern = TopicPattern(text)
    assert pattern.matches(name)
    assert not pattern.matches(f"_{name[:-1]}")


@pytest.mark.parametrize(
    ("largest", "more"),
    [("a{1000}a{1000}a", "a"), ("(){1000}" * 9 + "(){989}", "|")],
    ids=["steps", "nodes"],
)
def test_the_largest_expressions_are_these(largest: str, more: str) -> None:
    check_pattern(largest)
    with pytest.raises(KafkaError, match="too large"):
        check_pattern(largest + more)


def test_of_a_long_expression_the_start_is_shown() -> None:
    for size, shown in ((100, repr("(" * 100)), (101, repr("(" * 100 + "..."))):
        with pytest.raises(KafkaError) as caught:
            check_pattern("(" * size)
        assert str(caught.value).startswith(f"{shown}: ")
