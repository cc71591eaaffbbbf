"""Rows in the text format of COPY: tabs between values, backslashes before what is special."""

import re

from moldau.connect.connectors.capture.cells import Cell, Cells
from moldau.errors import ProtocolError

_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", re.DOTALL)
_NAMED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def row_cells(line: bytes) -> Cells:
    """The values of one row; ProtocolError if it is no text in UTF-8."""
    try:
        text = line.decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        raise ProtocolError(f"COPY: a row is no UTF-8: {error}") from error
    found = text.split("\t")
    if "\\" not in text:
        return list(found)
    return [_cell(each) for each in found]


def _cell(text: str) -> Cell:
    if text == "\\N":
        return None
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if code in _NAMED:
        return _NAMED[code]
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code[0] in "01234567" else code
