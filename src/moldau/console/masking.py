"""Parts of records that nobody sees: taken out before anything looks at them, filters too."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moldau.console.access import is_meant

if TYPE_CHECKING:
    import pyarrow as pa

HIDDEN = "***"
_SEGMENT = re.compile(r'"([^"]*)"|([^."]+)')
_PARTS = ("key", "value", "headers")

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MaskRule:
    """Paths into records of topics: `value.user.email`, `value.cards.*.number`, `key`."""

    topics: tuple[str, ...]
    paths: tuple[Path, ...]


def read_path(text: str) -> Path:
    """The parts of a path; names with dots stand in quotes. ValueError if it leads nowhere."""
    found = tuple(quoted or plain for quoted, plain in _SEGMENT.findall(text))
    whole = ".".join(f'"{each}"' if "." in each else each for each in found)
    if not found or found[0] not in _PARTS or len(whole) < len(text.replace('"', "")):
        raise ValueError(f"{text!r} does not begin with key, value or headers")
    if found[0] == "headers" and len(found) != 2:
        raise ValueError(f"{text!r} names no header: headers.NAME")
    return found


class Masks:
    """All rules of a console."""

    def __init__(self, rules: Iterable[MaskRule] = ()) -> None:
        self._rules = tuple(rules)

    def of(self, topic: str) -> "TopicMask | None":
        """What is hidden of a topic; None if nothing is."""
        paths = [
            path for rule in self._rules if is_meant(topic, rule.topics) for path in rule.paths
        ]
        return TopicMask(paths) if paths else None


class TopicMask:
    """What is hidden of one topic's records."""

    def __init__(self, paths: Iterable[Path]) -> None:
        every = list(paths)
        self._inside = {
            part: [path[1:] for path in every if path[0] == part] for part in ("key", "value")
        }
        self._headers = {path[1] for path in every if path[0] == "headers"}

    def table(self, table: "pa.Table") -> "pa.Table":
        """Records without what is hidden; the columns and rows are the same."""
        for part, paths in self._inside.items():
            if paths and part in table.column_names:
                table = _replaced(
                    table, part, (_masked(each, paths) for each in _items(table, part))
                )
        if self._headers and "headers" in table.column_names:
            table = _replaced(table, "headers", map(self._header, _items(table, "headers")))
        return table

    def _header(self, listed: object) -> object:
        if not isinstance(listed, list):
            return listed
        return [
            {**each, "value": HIDDEN.encode()} if each["key"] in self._headers else each
            for each in listed
        ]


def _items(table: "pa.Table", name: str) -> Iterator[object]:
    for chunk in table.column(name).chunks:
        yield from chunk.to_pylist()


def _replaced(table: "pa.Table", name: str, values: Iterable[object]) -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415 - with the first look at records

    at = table.schema.get_field_index(name)
    kind = table.schema.field(at).type
    return table.set_column(at, table.schema.field(at), pa.array(list(values), kind))


def _masked(data: object, paths: list[Path]) -> bytes | None:
    """A key or a value. What is no JSON cannot be looked into, so all of it is hidden."""
    if not isinstance(data, bytes) or not data:
        return data if data == b"" else None
    whole = HIDDEN.encode()
    if () in paths:
        return whole
    try:
        found = json.loads(data)
        if not isinstance(found, dict | list):
            return whole
        for path in paths:
            _hide(found, path)
        return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return whole


def _hide(value: object, path: Path) -> None:
    name, rest = path[0], path[1:]
    if isinstance(value, list):
        if not name.isdecimal() and name != "*":
            for each in value:  # a list on the way is gone through, whatever its length
                _hide(each, path)
            return
        places: list[int] = [each for each in range(len(value)) if name == "*" or each == int(name)]
        for place in places:
            if rest:
                _hide(value[place], rest)
            else:
                value[place] = HIDDEN
    elif isinstance(value, dict):
        for key in list(value) if name == "*" else [name] if name in value else []:
            if rest:
                _hide(value[key], rest)
            else:
                value[key] = HIDDEN
