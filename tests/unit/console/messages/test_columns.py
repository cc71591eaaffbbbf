"""Parts of records are picked by their paths."""

import pytest

from moldau.console.messages.columns import cells, read_columns

ROW: dict[str, object] = {
    "key": b"order-1",
    "value": b'{"user": {"name": "anna"}, "big": 9007199254740993, "sum": 1.10, "tags": ["a", {}]}',
    "headers": [{"key": "trace.id", "value": b"t1"}, {"key": "none", "value": None}],
}


def picked(text: str, **row: object) -> list[str | None]:
    return cells({**ROW, **row}, read_columns(text), {})


def test_parts_are_found_by_their_paths() -> None:
    assert picked("value.user.name, key,headers.trace.id") == ["anna", "order-1", "t1"]
    assert picked("value.user,value.tags.0,value.tags.1") == ['{"name": "anna"}', "a", "{}"]


def test_numbers_stay_as_they_are_written() -> None:
    assert picked("value.big,value.sum") == ["9007199254740993", "1.10"]


def test_what_is_not_there_is_nothing() -> None:
    assert picked("value.user.age,value.tags.2,value.user.name.x") == [None] * 3
    assert picked("headers.none,headers.x") == [None] * 2
    assert picked("value.a", value=None) == [None]
    assert picked("value.a,value", value=b"no \xff json") == [None, "no \ufffd json"]
    assert picked("value.a", value=b"[" * 9000) == [None], "nested too deep"


def test_what_was_decoded_by_a_schema_is_looked_into() -> None:
    assert cells(ROW, read_columns("value.id"), {"value": '{"id": 7}'}) == ["7"]


def test_a_name_may_have_dots_in_quotes() -> None:
    assert picked('value."a.b"', value=b'{"a.b": true}') == ["true"]


def test_a_long_part_is_cut() -> None:
    assert picked("value", value=b"x" * 1000) == ["x" * 240 + "…"]


@pytest.mark.parametrize("text", ["user", "value..", ",".join(["key"] * 11)])
def test_what_leads_nowhere_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"begin with|at most 10"):
        read_columns(text)
