"""A filter finds the same records as reading each of them would."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.arrow.tables import SCHEMA
from moldau.console.filters.language import FilterError, parse
from moldau.console.filters.matching import check, matching

VALUES = [
    b'{"user": "anna", "amount": 10, "tags": ["a", "b"], "big": 9007199254740993}',
    b'{"user": "bob", "amount": 20.5, "ok": true, "none": null}',
    rb'{"\u0075ser": "\u0061nna", "amount": 1e1}',
    b"plain anna",
    b"",
    None,
    b"\xff\xfe anna",
]


def table(values: list[bytes | None]) -> pa.Table:
    count = len(values)
    headers = [[{"key": "n", "value": str(at).encode()}] if at else [] for at in range(count)]
    return pa.table(
        {
            "key": pa.array([f"k{each}".encode() for each in range(count)], pa.binary()),
            "value": pa.array(values, pa.binary()),
            "partition": pa.array([0] * count, pa.int32()),
            "offset": pa.array(range(count), pa.int64()),
            "timestamp": pa.array(range(count), SCHEMA.field("timestamp").type),
            "headers": pa.array(headers, SCHEMA.field("headers").type),
        }
    )


def found(text: str, values: list[bytes | None] = VALUES) -> list[int]:
    wanted = parse(text)
    assert wanted is not None
    check(wanted)
    offsets: list[int] = matching(table(values), wanted)["offset"].to_pylist()
    return offsets


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("anna", [0, 3, 6]),
        ("k1", [1]),
        ("value.user = anna", [0, 2]),
        ("value.user != anna", [1, 3, 4, 5, 6]),
        ("value.amount > 10", [1]),
        ("value.amount = 10", [0, 2]),
        ("value.amount >= 10 and value.user = anna", [0, 2]),
        ("value.big = 9007199254740993", [0]),
        ("value.big = 9007199254740992", []),
        ("value.tags.1 = b", [0]),
        ("value.ok = true", [1]),
        ("value.none = null", [1]),
        ("value.user contains nn", [0, 2]),
        ('value.user matches "^b"', [1]),
        ("value is null", [5]),
        ("value is empty", [4]),
        ("value is not null", [0, 1, 2, 3, 4, 6]),
        ("headers.n = 3", [3]),
        ("headers.n is null", [0]),
        ("offset > 2 and offset <= 4", [3, 4]),
        ("timestamp < 2", [0, 1]),
        ("size = 0", [4, 5]),
        ("key startswith k and not value icontains ANNA", [1, 2, 4, 5]),
        ('value matches "pl[a-z]+ "', [3]),
        ("partition = 0 and key = k6", [6]),
    ],
)
def test_records_are_found(text: str, offsets: list[int]) -> None:
    assert found(text) == offsets


@pytest.mark.parametrize("pattern", ["(", "a**", r"(?=a)"])
def test_a_pattern_that_re2_refuses_is_said(pattern: str) -> None:
    wanted = parse(f'not (key matches "{pattern}" or a)')
    assert wanted is not None
    with pytest.raises(FilterError, match="no pattern"):
        check(wanted)


def test_a_pattern_takes_no_longer_for_a_hostile_text() -> None:
    assert found('value matches "^(a+)+$"', [b"a" * 20_000 + b"!"]) == []


@given(st.text(max_size=6), st.lists(st.text(max_size=12), max_size=8))
def test_contains_is_what_python_says(part: str, texts: list[str]) -> None:
    quoted = part.replace("\\", "\\\\").replace('"', '\\"')
    values: list[bytes | None] = [each.encode() for each in texts]
    expected = [at for at, each in enumerate(texts) if part in each]
    assert found(f'value contains "{quoted}"', values) == expected


@given(st.text(max_size=4), st.lists(st.text(max_size=4), max_size=8), st.booleans())
def test_a_path_is_found_however_it_is_written(name: str, texts: list[str], escapes: bool) -> None:
    values: list[bytes | None] = [
        json.dumps({"a": each}, ensure_ascii=escapes).encode() for each in texts
    ]
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    expected = [at for at, each in enumerate(texts) if each == name]
    assert found(f'value.a = "{quoted}"', values) == expected
