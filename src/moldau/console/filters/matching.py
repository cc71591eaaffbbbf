"""Finds the records of an Arrow table that a filter holds for, column by column.

What JSON says can only be known by reading it. So the columns first leave out all values that
cannot match, and the few that are left are read.
"""

import json
from collections.abc import Callable
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from moldau.console.filters.language import (
    SEARCHES,
    Both,
    Condition,
    Either,
    Filter,
    FilterError,
    Literal,
    Not,
    TextAnywhere,
)

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ")
_MISSING = object()
_COMPARE: dict[str, Callable[[object, object], bool]] = {
    "=": lambda one, other: one == other,
    "<": lambda one, other: one < other,  # type: ignore[operator]
    "<=": lambda one, other: one <= other,  # type: ignore[operator]
    ">": lambda one, other: one > other,  # type: ignore[operator]
    ">=": lambda one, other: one >= other,  # type: ignore[operator]
}
_ARROW = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def check(wanted: Filter) -> None:
    """FilterError if a pattern in it is none that RE2 knows."""
    match wanted:
        case Both(left, right) | Either(left, right):
            check(left)
            check(right)
        case Not(part):
            check(part)
        case Condition(_, _, "matches", str(pattern)):
            try:
                pc.match_substring_regex(pa.array([b""], pa.binary()), pattern)
            except pa.ArrowInvalid as error:
                raise FilterError(f"{pattern!r} is no pattern: {error}") from error


def matching(table: pa.Table, wanted: Filter) -> pa.Table:
    """The rows that a filter holds for."""
    parts = [
        batch.filter(_Batch(batch).mask(wanted, None))
        for batch in table.to_batches()
        if batch.num_rows
    ]
    return pa.Table.from_batches(parts, table.schema)


class _Batch:
    """Some records, and what was read of their JSON."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def mask(self, wanted: Filter, within: pa.Array | None) -> pa.Array:
        """Where it holds; rows that are not `within` may be anything."""
        match wanted:
            case TextAnywhere(text):
                return pc.or_(self._holds(text, "key"), self._holds(text, "value"))
            case Not(part):
                return pc.invert(self.mask(part, within))
            case Both(left, right):
                first = self.mask(left, within)
                inside = first if within is None else pc.and_(first, within)
                return pc.and_(first, self.mask(right, inside))
            case Either(left, right):
                return pc.or_(self.mask(left, within), self.mask(right, within))
            case Condition():
                return pc.fill_null(self._condition(wanted, within), False)

    def _holds(self, text: str, column: str) -> pa.Array:
        return pc.fill_null(_search("contains", self._column(column), text), False)

    def _condition(self, wanted: Condition, within: pa.Array | None) -> pa.Array:
        operator, literal = wanted.operator, wanted.literal
        if wanted.field == "headers":
            return _compare(self._header(wanted.path[0]), operator, literal)
        if wanted.field == "size":
            size = pc.fill_null(pc.binary_length(self._column("value")), 0)
            return _ARROW[operator](size, pa.scalar(literal))
        if wanted.field == "timestamp":
            return _ARROW[operator](self._column("timestamp").cast(pa.int64()), pa.scalar(literal))
        if wanted.path:
            return self._json(wanted, within)
        return _compare(self._column(wanted.field), operator, literal)

    def _column(self, name: str) -> pa.Array:
        return self._batch.column(name)

    def _header(self, name: str) -> pa.Array:
        """The first header of this name in each row."""
        found: list[bytes | None] = [None] * self._batch.num_rows
        lists = self._column("headers")
        parents = pc.list_parent_indices(lists)
        headers = pc.list_flatten(lists)
        is_named = pc.equal(headers.field("key"), name)
        rows = pc.filter(parents, is_named).to_pylist()
        values = pc.filter(headers.field("value"), is_named).to_pylist()
        for row, value in reversed(list(zip(rows, values, strict=True))):
            found[row] = value
        return pa.array(found, pa.binary())

    def _json(self, wanted: Condition, within: pa.Array | None) -> pa.Array:
        column = self._column(wanted.field)
        candidates = _candidates(column, wanted)
        if within is not None:
            candidates = pc.and_(candidates, within)
        found = [False] * self._batch.num_rows
        is_absent = wanted.operator in ("is null", "!=")
        if is_absent:  # a value without the path differs from everything
            found = [True] * self._batch.num_rows
        test = _test(wanted)
        rows = pc.indices_nonzero(candidates)
        self._read(wanted.field, rows)
        for row in rows.to_pylist():
            found[row] = test(self._path(wanted.field, row, wanted.path))
        return pa.array(found)

    def _read(self, field: str, rows: pa.Array) -> None:
        parsed = self._parsed
        for row, text in zip(
            rows.to_pylist(), self._column(field).take(rows).to_pylist(), strict=True
        ):
            if (field, row) not in parsed:
                try:
                    parsed[field, row] = json.loads(text)
                except (ValueError, RecursionError):
                    parsed[field, row] = _MISSING

    @cached_property
    def _parsed(self) -> dict[tuple[str, int], object]:
        return {}

    def _path(self, field: str, row: int, path: tuple[str, ...]) -> object:
        found = self._parsed[field, row]
        for name in path:
            if isinstance(found, dict):
                found = found.get(name, _MISSING)
            elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
                found = found[int(name)]
            else:
                return _MISSING
        return found


def _candidates(column: pa.Array, wanted: Condition) -> pa.Array:
    """Values that have the name at the end of the path, and the text that is looked for.

    JSON may write any letter as an escape, so values with a backslash are candidates as well.
    """
    needed = [f"{escaped(name)}|\\\\" for name in wanted.path[-1:] if not name.isdigit()]
    if wanted.operator == "=" and isinstance(wanted.literal, str):
        needed.append(f"{escaped(wanted.literal)}|\\\\")
    elif wanted.operator == "=" and type(wanted.literal) is int:
        needed.append(f"{escaped(str(wanted.literal))}|[0-9][eE]")
    found = pc.is_valid(column)
    for pattern in needed:
        has = pc.match_substring_regex(column, pattern)
        found = pc.and_(found, pc.fill_null(has, False))
    return found


def _test(wanted: Condition) -> Callable[[object], bool]:
    operator, literal = wanted.operator, wanted.literal

    def test(found: object) -> bool:
        if operator == "is null":
            return found is None or found is _MISSING
        if operator == "is empty":
            return found in ("", [], {}) and found is not _MISSING
        if operator == "!=":
            return not _is_equal(found, literal)
        if found is _MISSING or found is None:
            return operator == "=" and literal is None and found is None
        if operator in SEARCHES:
            return _searched(operator, found, literal)
        if operator == "=":
            return _is_equal(found, literal)
        is_number = isinstance(found, int | float) and isinstance(literal, int | float)
        is_text = isinstance(found, str) and isinstance(literal, str)
        return (is_number or is_text) and _COMPARE[operator](found, literal)

    return test


def _is_equal(found: object, literal: Literal) -> bool:
    if isinstance(found, bool) or isinstance(literal, bool):
        return found is literal
    if isinstance(found, int | float) and isinstance(literal, str):
        return str(found) == literal
    return found == literal


def _searched(operator: str, found: object, literal: Literal) -> bool:
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    mask = _search(operator, pa.array([text.encode()], pa.binary()), str(literal))
    return bool(mask[0].as_py())


def _compare(column: pa.Array, operator: str, literal: Literal) -> pa.Array:
    if operator == "is null":
        return pc.is_null(column)
    if operator == "is empty":
        return pc.equal(pc.binary_length(column), 0)
    if operator in SEARCHES:
        return _search(operator, column, str(literal))
    if pa.types.is_binary(column.type):
        if literal is None:
            missing = pc.is_null(column)
            return pc.invert(missing) if operator == "!=" else missing
        text = str(literal).lower() if isinstance(literal, bool) else str(literal)
        found = _ARROW[operator](column, pa.scalar(text.encode(), pa.binary()))
        return pc.fill_null(found, operator == "!=")
    return _ARROW[operator](column, pa.scalar(literal))


def _search(operator: str, column: pa.Array, text: str) -> pa.Array:
    if operator == "contains":  # its pattern is faster than the plain search
        return pc.match_substring_regex(column, escaped(text))
    if operator == "icontains":
        return pc.match_substring(column, text, ignore_case=True)
    if operator == "startswith":
        return pc.starts_with(column, text)
    return pc.match_substring_regex(column, text)


def escaped(text: str) -> str:
    """A pattern of RE2 that is this text and nothing else."""
    return "".join(
        each if each in _PLAIN or ord(each) > 127 else f"\\x{{{ord(each):x}}}" for each in text
    )
