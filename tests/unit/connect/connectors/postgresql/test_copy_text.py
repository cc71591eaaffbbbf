"""Rows of COPY."""

import pytest

from moldau.connect.connectors.postgresql.copy_text import row_cells
from moldau.errors import ProtocolError


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        (b"1\tplain\n", ["1", "plain"]),
        (b"1\t\\N\t\n", ["1", None, ""]),
        (b"a\\tb\\nc\\\\N\t\\\\N\n", ["a\tb\nc\\N", "\\N"]),
        (b"\\x41\\101\\b\\.\n", ["AA\b."]),
        ("grün\r".encode(), ["grün\r"]),
    ],
)
def test_values_are_what_they_were(line: bytes, cells: list[str | None]) -> None:
    assert row_cells(line) == cells


def test_what_is_no_utf_8_is_refused() -> None:
    with pytest.raises(ProtocolError, match="no UTF-8"):
        row_cells(b"\xff\n")
