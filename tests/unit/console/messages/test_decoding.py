"""Filters and SQL see what a registry makes of values."""

import struct

import pyarrow as pa
import pytest

from moldau.console.filters.language import parse
from moldau.console.messages.decoding import decoded, matching_decoded, reads_json

READ = {7: '{"user": "anna", "n": 9007199254740993}', 8: '{"user": "bob"}'}


def read(data: bytes) -> dict[str, object] | None:
    number = struct.unpack_from(">i", data, 1)[0]
    return {"text": READ[number]} if number in READ else {"error": "unknown"}


def registered(number: int) -> bytes:
    return struct.pack(">bi", 0, number) + b"\xff"


VALUES = [registered(7), registered(8), registered(9), b'{"user": "anna"}', None, b"\x00", b""]
TABLE = pa.table(
    {
        "key": pa.array([None] * len(VALUES), pa.binary()),
        "value": pa.array(VALUES, pa.binary()),
        "offset": range(len(VALUES)),
    }
)


def test_json_takes_the_place_of_bytes_that_name_a_schema() -> None:
    found = decoded(TABLE, read)["value"].to_pylist()
    assert found == [READ[7].encode(), READ[8].encode(), *VALUES[2:]]


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("value.user = anna", [0, 3]),
        ("value.n = 9007199254740993", [0]),
        ("value.user is not null and not value.user = anna", [1]),
        ("value.user = nobody", []),
    ],
)
def test_records_are_found_by_it_and_stay_what_they_are(text: str, offsets: list[int]) -> None:
    wanted = parse(text)
    assert wanted is not None
    found = matching_decoded(TABLE, wanted, read)
    assert found["offset"].to_pylist() == offsets
    assert found["value"].to_pylist() == [VALUES[each] for each in offsets]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("anna", False),
        ('value contains "x"', False),
        ("headers.a = b", False),
        ("value.a = b", True),
        ("not (anna or key.a is null)", True),
        ("anna and value.a > 1", True),
    ],
)
def test_only_paths_are_worth_decoding(text: str, expected: bool) -> None:
    wanted = parse(text)
    assert wanted is not None
    assert reads_json(wanted) is expected
