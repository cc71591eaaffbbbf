"""Format strings with kcat's codes."""

import json

import pytest

from moldau.cli.kcat.format import as_json, compile_format
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.record import ConsumerRecord

RECORD = ConsumerRecord("t", 2, 7, 1700, b"k", b"value", (("h", b"1"), ("n", None)))
NULLS = ConsumerRecord[bytes, bytes]("t", 0, 0, 0, None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"%T %k: %s\n", b"1700 k: value\n"),
        (r"%t[%p]@%o %S/%K %h%%", b"t[2]@7 5/1 h=1,n=NULL%"),
        (r"%R\x41\t\q", b"\0\0\0\5A\t\\q"),
    ],
)
def test_codes_and_escapes(text: str, expected: bytes) -> None:
    assert compile_format(text)(RECORD) == expected


def test_nulls_are_empty_and_have_no_size() -> None:
    assert compile_format("%k|%s|%K|%S")(NULLS) == b"||-1|-1"
    assert compile_format("%k|%s", null=b"NULL")(NULLS) == b"NULL|NULL"


def test_an_unknown_code_is_named() -> None:
    with pytest.raises(CommandFailed, match="there is no code %y"):
        compile_format("%y")


def test_records_are_json_too() -> None:
    found = json.loads(as_json(RECORD))
    assert (found["headers"], found["payload"]) == (["h", "1", "n", None], "value")
    assert json.loads(as_json(NULLS))["key"] is None
