"""Lines of text to records."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.cli.record_text.line_reader import LineReader, LineSplitter, ParsedLine
from moldau.cli.terminal.failure import CommandFailed


def reader(*pairs: str) -> LineReader:
    return LineReader(dict(pair.split("=", 1) for pair in pairs))


def test_a_line_is_a_value() -> None:
    assert reader().is_plain
    assert reader().parse(b"a\tb") == ParsedLine(None, b"a\tb")


def test_a_key_may_stand_before_it() -> None:
    assert reader("parse.key=true").parse(b"k\tv\tw") == ParsedLine(b"k", b"v\tw")
    assert reader("parse.key=TRUE", "key.separator=::").parse(b"k::") == ParsedLine(b"k", b"")


def test_headers_may_stand_before_both() -> None:
    found = reader("parse.headers=true", "parse.key=true").parse(b"a:1,b:\tk\tv")
    assert found == ParsedLine(b"k", b"v", (("a", b"1"), ("b", b"")))


def test_a_marker_stands_for_null() -> None:
    lines = reader("parse.headers=true", "parse.key=true", "null.marker=N")
    assert not lines.is_plain
    assert lines.parse(b"N\tN\tN") == ParsedLine(None, None)
    assert lines.parse(b"a:N\tk\tv").headers == (("a", None),)
    with pytest.raises(CommandFailed, match="should not be equal to the null marker"):
        lines.parse(b"N:1\tk\tv")


def test_a_line_without_its_separator_is_refused_by_its_number() -> None:
    lines = reader("parse.key=true")
    lines.parse(b"k\tv")
    with pytest.raises(CommandFailed, match="No key separator found on line number 2: 'kv'"):
        lines.parse(b"kv")
    with pytest.raises(CommandFailed, match="No headers delimiter found on line number 1"):
        reader("parse.headers=true").parse(b"kv")
    with pytest.raises(CommandFailed, match="No header key separator found in pair 'a'"):
        reader("parse.headers=true").parse(b"a\tv")


def test_unless_errors_are_to_be_ignored() -> None:
    lines = reader("parse.key=true", "parse.headers=true", "ignore.error=true")
    assert lines.parse(b"v") == ParsedLine(None, b"v")
    assert lines.parse(b"a\tk\tv").headers == (("a", None),)


def test_separators_must_differ() -> None:
    with pytest.raises(CommandFailed, match="must differ"):
        reader("parse.headers=true", "headers.separator=:")
    with pytest.raises(CommandFailed, match=r"null\.marker"):
        reader("null.marker=,")


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b"bc"])), st.integers(1, 5))
def test_lines_are_the_same_however_the_bytes_come(parts: list[bytes], size: int) -> None:
    data = b"".join(parts)
    splitter = LineSplitter()
    found: list[bytes] = []
    for start in range(0, len(data), size):
        found += splitter.feed(data[start : start + size])
    assert found + splitter.end() == data.splitlines()
