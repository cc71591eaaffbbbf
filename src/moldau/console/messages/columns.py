"""Columns of a list of records: parts of keys, values and headers, picked by their paths."""

import json
import re
from collections.abc import Mapping
from typing import Self

from moldau.console.masking import Path, read_path

COLUMNS_MAX = 10
_NAME = re.compile(r'(?:"[^"]*"|[^,"])+')
_PARSED_BYTES_MAX = 1 << 20
_SHOWN_LETTERS = 240


class _Written(float):
    """A number with a fraction, as it stands in the record: 1.10 is not 1.1."""

    text: str

    def __new__(cls, text: str) -> Self:
        made = super().__new__(cls, text)
        made.text = text
        return made


def read_columns(text: str) -> tuple[Path, ...]:
    """The paths that a text lists: `value.user,headers.trace`. ValueError if one leads nowhere."""
    found = tuple(_path(each.strip()) for each in _NAME.findall(text) if each.strip())
    if len(found) > COLUMNS_MAX:
        raise ValueError(f"at most {COLUMNS_MAX}")
    return found


def _path(text: str) -> Path:
    part, _, name = text.partition(".")
    # A header's name may have dots, as in a filter.
    return (part, name.strip('"')) if part == "headers" and name else read_path(text)


def cells(
    row: Mapping[str, object], columns: tuple[Path, ...], texts: Mapping[str, str]
) -> list[str | None]:
    """What one record has there; None where it has nothing. `texts` are the decoded parts."""
    parsed: dict[str, object] = {}
    found: list[str | None] = []
    for part, *path in columns:
        if part == "headers":
            found.append(_header(row["headers"], path[0]))
            continue
        source = texts.get(part, row[part])
        if not path:
            found.append(_whole(source))
            continue
        if part not in parsed:
            parsed[part] = _parsed(source)
        found.append(_text(_inside(parsed[part], path)))
    return found


def _whole(source: object) -> str | None:
    if isinstance(source, bytes):
        return _cut(source[: 4 * _SHOWN_LETTERS + 4].decode(errors="replace"))
    return _cut(source) if isinstance(source, str) else None


def _parsed(source: object) -> object:
    if not isinstance(source, str | bytes) or len(source) > _PARSED_BYTES_MAX:
        return None
    try:
        return json.loads(source, parse_float=_Written)
    except (ValueError, RecursionError):
        return None


def _inside(value: object, path: list[str]) -> object:
    for name in path:
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _header(headers: object, name: str) -> str | None:
    assert isinstance(headers, list)
    for each in headers:
        if each["key"] == name:
            return None if each["value"] is None else _cut(each["value"].decode(errors="replace"))
    return None


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, _Written):
        return value.text
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_LETTERS else f"{text[:_SHOWN_LETTERS]}…"
