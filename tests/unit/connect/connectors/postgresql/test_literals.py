"""Texts of values that have parts."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.connect.connectors.postgresql.literals import (
    array_elements,
    bits_bytes,
    hstore_pairs,
    interval_parts,
    point_parts,
)


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("{}", []),
        ("{1,NULL,3}", ["1", None, "3"]),
        ('{a,"b,c",NULL,"NULL"}', ["a", "b,c", None, "NULL"]),
        (r'{"a\"b","c\\d","","{}"}', ['a"b', "c\\d", "", "{}"]),
        ("[0:1]={7,8}", ["7", "8"]),
        ('{ "a" , b}', ["a", "b"]),
        ("{\x1da,\u00a0b\u2003,\x85}", ["\x1da", "\u00a0b\u2003", "\x85"]),
    ],
)
def test_elements_of_an_array(text: str, elements: list[str | None]) -> None:
    assert array_elements(text) == elements


@pytest.mark.parametrize("text", ["", "{", "1,2", '{"a}', '{a"b}', "{{1},{2}}", "{1}{2}"])
def test_what_is_no_array_of_one_dimension_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="array"):
        array_elements(text)


@given(st.text(alphabet='{}",\\aN', max_size=30))
def test_hostile_arrays_are_refused_or_parsed(text: str) -> None:
    for parse in (array_elements, hstore_pairs):
        with contextlib.suppress(ValueError):
            parse(text)


@given(st.lists(st.none() | st.text(max_size=8), max_size=5))
def test_any_elements_come_back(elements: list[str | None]) -> None:
    def quoted(each: str) -> str:
        escaped = each.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'

    text = ",".join("NULL" if each is None else quoted(each) for each in elements)
    assert array_elements(f"{{{text}}}") == elements


def test_pairs_of_an_hstore() -> None:
    assert hstore_pairs("") == {}
    assert hstore_pairs(r'"k"=>"v", "n"=>NULL, "a\"b"=>"c\\d"') == {
        "k": "v",
        "n": None,
        'a"b': "c\\d",
    }
    with pytest.raises(ValueError, match="no hstore"):
        hstore_pairs('"k"=>')


@pytest.mark.parametrize(
    ("text", "micros", "iso"),
    [
        ("1 year 2 mons 3 days 04:05:06.789", 37091106789000, "P1Y2M3DT4H5M6.789S"),
        ("00:00:00", 0, "P0Y0M0DT0H0M0S"),
        ("-1 days +02:03:00", -79020000000, "P0Y0M-1DT2H3M0S"),
        ("-00:00:00.5", -500000, "P0Y0M0DT0H0M-0.5S"),
        ("1 mon", 2629800000000, "P0Y1M0DT0H0M0S"),
    ],
)
def test_intervals(text: str, micros: int, iso: str) -> None:
    found = interval_parts(text)
    assert (found.total_us(), found.iso_text()) == (micros, iso)


def test_what_is_no_interval_or_point_is_refused() -> None:
    with pytest.raises(ValueError, match="no interval"):
        interval_parts("tomorrow")
    with pytest.raises(ValueError, match="no point"):
        point_parts("(1)")


def test_points_and_bits() -> None:
    assert point_parts("(1.5,-2)") == (1.5, -2.0)
    assert [bits_bytes(each) for each in ("10110", "100000000", "0000", "")] == [
        b"\x16",
        b"\0\1",
        b"",
        b"",
    ]
