"""Java's regular expressions, in bounded time."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.security.java_patterns import JavaPattern, PatternError

PATTERNS = [
    "", "a", "a*", "a*?b", "(a|b)*", "(a|ab)(c|bcd)(d*)", "a{2,3}", "a{2,}?b", "a{2}", "(a*)(b*)",
    "^a|b$", "[^a]+", "[a-b]?c", "a.c", r"\Qa.\Eb", "(?:ab)+", "(a?)(ab)?", r"\w+\d", r"a\.b",
]  # fmt: skip


@given(st.sampled_from(PATTERNS), st.text("abcd.1", max_size=8))
def test_what_fits_is_what_fits_pythons_own(pattern: str, text: str) -> None:
    same = re.compile(pattern.replace(r"\Qa.\E", r"a\."))
    ours = JavaPattern(pattern)
    assert ours.matches(text) == bool(same.fullmatch(text))
    theirs = same.search(text)
    spans = ours.find(text, 0)
    assert (spans is None) == (theirs is None)
    if spans is not None and theirs is not None:
        found = [theirs.span(group) for group in range(same.groups + 1)]
        assert list(zip(spans[::2], spans[1::2], strict=True)) == found


def test_case_and_names_are_understood() -> None:
    assert JavaPattern("(?i)cn=x").matches("CN=X")
    assert JavaPattern("CN=(?<user>.*)").group_names == {"user": 1}


def test_the_dot_does_not_fit_what_ends_a_line() -> None:
    for end in "\n\r\x85\u2028\u2029":
        assert not JavaPattern("a.b").matches(f"a{end}b")


@pytest.mark.parametrize(
    "pattern",
    [
        "(", ")", "a)", "[a", "*", "a*+", r"(a)\1", r"\p{L}", "(?=a)", "[a&&b]", "[a[b]]", r"\G",
        "a{5,2}", "a{2000}", "((a{500}){500})", "a(?i)b", "a\\", "[b-a]",
    ],
)  # fmt: skip
def test_what_is_wrong_or_not_understood_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        JavaPattern(pattern)


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|a)*b", "(a+)+b", "(.*,)*(.*,)*b"])
def test_nothing_takes_long(pattern: str) -> None:
    """Each of these takes a backtracking matcher longer than the world has been there."""
    began = time.process_time()
    assert not JavaPattern(pattern).matches("a,a" * 300)
    assert time.process_time() - began < 1
