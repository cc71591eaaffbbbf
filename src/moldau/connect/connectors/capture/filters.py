"""Which tables and columns are captured, under which topics and keys, and what is masked.

Lists are Java's regular expressions with commas between, matched as a whole and whatever the
case; they run in bounded time, since names of tables are chosen by others.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.data.schema import Kind, Schema
from moldau.connect.errors import ConfigError
from moldau.security.java_patterns import JavaPattern, PatternError

_SYSTEM = {
    "schema": frozenset({"pg_catalog", "information_schema", "pg_toast"}),
    "database": frozenset({"mysql", "information_schema", "performance_schema", "sys"}),
}
_TEMPORARY = "pg_temp"
_COMMA = re.compile(r"(?<!\\),")
_NO_TOPIC = re.compile(r"[^a-zA-Z0-9._\-]")
_MASK = re.compile(r"column\.mask\.with\.(\d+)\.chars")
_TRUNCATE = re.compile(r"column\.truncate\.to\.(\d+)\.chars")


class NamePatterns:
    """A list of expressions; empty, it matches nothing."""

    def __init__(self, setting: str, text: str) -> None:
        self.texts = [
            each.strip().replace("\\,", ",") for each in _COMMA.split(text) if each.strip()
        ]
        try:
            self._patterns = [JavaPattern(f"(?i){each}") for each in self.texts]
        except PatternError as error:
            raise ConfigError(f"{setting}: {error}") from error
        self._known: dict[str, bool] = {}

    def matches(self, name: str) -> bool:
        """Whether one of them fits all of a name."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = any(each.matches(name) for each in self._patterns)
        return found


class CaptureFilters:
    """What settings say of names."""

    def __init__(self, config: Mapping[str, str], of: str = "schema") -> None:
        """`of` is what tables are in, by the name that its settings have."""
        self._prefix = config.get("topic.prefix", "")
        self._system = _SYSTEM[of]
        self._schemas = _selection(config, of)
        self._tables = _selection(config, "table")
        self._columns = _selection(config, "column")
        self._snapshot = NamePatterns(
            "snapshot.include.collection.list", config.get("snapshot.include.collection.list", "")
        )
        self._keys = list(_key_columns(config.get("message.key.columns", "")))
        self._masks = list(_masks(config))

    def has_table(self, table: TableName) -> bool:
        """Whether its changes are captured."""
        if table.schema in self._system or table.schema.startswith(_TEMPORARY):
            return False
        return self._schemas(table.schema) and self._tables(str(table))

    def in_snapshot(self, table: TableName) -> bool:
        """Whether its rows are read at first."""
        return not self._snapshot.texts or self._snapshot.matches(str(table))

    def has_column(self, name: str) -> bool:
        """Whether a column, as `schema.table.column`, is part of records."""
        return self._columns(name)

    def key_of(self, table: TableName) -> Sequence[str] | None:
        """The columns that `message.key.columns` names; None if it says nothing of the table."""
        for patterns, columns in self._keys:
            if patterns.matches(str(table)):
                return columns
        return None

    def mask(self, column: str, schema: Schema) -> Callable[[object], object] | None:
        """What is made of texts of a column."""
        if schema.kind is not Kind.STRING:
            return None
        return next((make for patterns, make in self._masks if patterns.matches(column)), None)

    def topic_of(self, table: TableName) -> str:
        """What is no character of a topic's name is an underscore."""
        return _NO_TOPIC.sub("_", f"{self._prefix}.{table}")


def _selection(config: Mapping[str, str], kind: str) -> Callable[[str], bool]:
    include, exclude = f"{kind}.include.list", f"{kind}.exclude.list"
    wanted = NamePatterns(include, config.get(include, ""))
    refused = NamePatterns(exclude, config.get(exclude, ""))
    if wanted.texts and refused.texts:
        raise ConfigError(f"{include} and {exclude} exclude each other: remove one of them")
    if wanted.texts:
        return wanted.matches
    return lambda name: not refused.matches(name)


def _key_columns(text: str) -> Sequence[tuple[NamePatterns, Sequence[str]]]:
    found = []
    for each in text.split(";"):
        table, separator, columns = each.strip().rpartition(":")
        names = [name.strip() for name in columns.split(",") if name.strip()]
        if not each.strip():
            continue
        if not separator or not names:
            raise ConfigError(
                f"message.key.columns: {each.strip()} is not of the form schema.table:column,column"
            )
        found.append((NamePatterns("message.key.columns", table), names))
    return found


def _masks(
    config: Mapping[str, str],
) -> Sequence[tuple[NamePatterns, Callable[[object], object]]]:
    found: list[tuple[NamePatterns, Callable[[object], object]]] = []
    for name, text in config.items():
        masked, truncated = _MASK.fullmatch(name), _TRUNCATE.fullmatch(name)
        if masked is not None:
            found.append((NamePatterns(name, text), _Mask("*" * int(masked[1]))))
        elif truncated is not None:
            found.append((NamePatterns(name, text), _Truncation(int(truncated[1]))))
    return found


class _Mask:
    """The same text for all values."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self, value: object) -> object:
        return None if value is None else self._text


class _Truncation:
    """The first characters."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __call__(self, value: object) -> object:
        return value[: self._length] if isinstance(value, str) else value
