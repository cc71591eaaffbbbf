"""How a source polls: which rows are new, in which order, and how far it is after them."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from moldau.connect.connector import Offset
from moldau.connect.connectors.sql.database import Column, quoted, quoted_table
from moldau.connect.data.logical import EPOCH
from moldau.connect.errors import ConfigError, ConnectError, DataError

BULK, ID, STAMP = "bulk", "incrementing", "timestamp"
MODES = (BULK, ID, STAMP, f"{STAMP}+{ID}")
_NANOS = "timestamp_nanos"
_LEAST = -(2**62)

Stored = Callable[[dt.datetime], object]
"""A moment as a parameter of a database."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A table, or what a query of the user's gives."""

    name: str
    """Of the table; a query has none."""
    text: str
    """As it stands after FROM."""
    columns: Sequence[Column]

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return [each.name for each in self.columns]

    @property
    def shown(self) -> str:
        """For messages."""
        return f"table {self.name}" if self.name else "the query"


def table_relation(name: str, columns: Sequence[Column]) -> Relation:
    """A table; ConnectError if it is not there."""
    if not columns:
        raise ConnectError(f"table {name} is not there, or has no columns")
    return Relation(name, quoted_table(name), columns)


@dataclass(frozen=True, slots=True)
class PollOrder:
    """Which columns say what is new: a number that grows, a time, or both."""

    number: str | None
    times: Sequence[str]
    """The first that is not null counts."""

    @classmethod
    def of(cls, config: Mapping[str, str], mode: str, relation: Relation) -> "PollOrder":
        """As the settings name them."""
        found = config.get("timestamp.column.name", "").split(",") if STAMP in mode else []
        times = [each.strip() for each in found if each.strip()]
        if STAMP in mode and not times:
            raise ConfigError(f"timestamp.column.name: {relation.shown} needs one to be named")
        number = None
        if ID in mode:
            keys = [each.name for each in relation.columns if each.is_key]
            number = config.get("incrementing.column.name", "").strip()
            number = number or (keys[0] if len(keys) == 1 else None)
            if number is None:
                raise ConfigError(
                    f"incrementing.column.name: {relation.shown} needs one to be named"
                )
        missing = {*times, *([number] if number else [])} - set(relation.names)
        if missing:
            raise ConfigError(f"{relation.shown} has no column {', '.join(sorted(missing))}")
        return cls(number, times)

    @property
    def time(self) -> str | None:
        """In SQL."""
        if len(self.times) > 1:
            return f"COALESCE({', '.join(map(quoted, self.times))})"
        return quoted(self.times[0]) if self.times else None

    @property
    def text(self) -> str:
        """What stands after ORDER BY."""
        number = None if self.number is None else quoted(self.number)
        return ", ".join(each for each in (self.time, number) if each is not None)

    def check_not_null(self, relation: Relation) -> None:
        """ConfigError if rows may be passed over since all these columns are null in them."""
        can_be_null = {each.name for each in relation.columns if each.is_nullable}
        for columns in ([self.number] if self.number else [], list(self.times)):
            if columns and can_be_null.issuperset(columns):
                raise ConfigError(
                    f"{relation.shown}: {', '.join(columns)} may be null, and such rows are never "
                    "read; declare NOT NULL, or set validate.non.null=false"
                )

    def condition(
        self, start: Offset, until: dt.datetime, stored: Stored
    ) -> tuple[str, list[object]]:
        """What is new since an offset, with its parameters; rows of later times wait."""
        number = None if self.number is None else quoted(self.number)
        after = start.get(ID, _LEAST)
        if self.time is None:
            return f"{number} > ?", [after]
        since, end = stored(_time(start)), stored(until)
        if number is None:
            return f"{self.time} > ? AND {self.time} < ?", [since, end]
        return (
            f"{self.time} < ? AND (({self.time} = ? AND {number} > ?) OR {self.time} > ?)",
            [end, since, after, since],
        )

    def time_of(self, row: Mapping[str, object]) -> object:
        """As the database gave it."""
        return next((row[each] for each in self.times if row[each] is not None), None)

    def offset(self, last: Mapping[str, object]) -> dict[str, object]:
        """How far it is after a row."""
        found: dict[str, object] = {}
        if self.number is not None:
            value = last[self.number]
            if not isinstance(value, int):
                raise DataError(f"{self.number} is no whole number: {value!r}")
            found[ID] = value
        if self.times:
            found |= time_offset(self.time_of(last))
        return found


def time_offset(moment: object) -> dict[str, object]:
    """As the JDBC connectors write it."""
    if isinstance(moment, str):
        moment = dt.datetime.fromisoformat(moment)
    if not isinstance(moment, dt.datetime):
        raise DataError(f"timestamp.column.name: {moment!r} is no time")
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=dt.UTC)
    whole = int((aware - EPOCH).total_seconds() // 1)
    return {STAMP: whole * 1000 + aware.microsecond // 1000, _NANOS: aware.microsecond * 1000}


def _time(start: Offset) -> dt.datetime:
    ms, nanos = start.get(STAMP, 0), start.get(_NANOS, 0)
    if not isinstance(ms, int) or not isinstance(nanos, int):
        raise ConnectError(f"{dict(start)} is no offset of this connector")
    return EPOCH + dt.timedelta(seconds=ms // 1000, microseconds=nanos // 1000)
