"""Statements that change tables, as SQLite, PostgreSQL and DuckDB understand them."""

import datetime as dt
import re
from collections.abc import Sequence

from moldau.connect.connectors.sql.changes import UPSERT
from moldau.connect.connectors.sql.database import quoted, quoted_table

_QUESTION = re.compile(r"""'[^']*'|"[^"]*"|\?\??""")
_MARKS = {"?": "%s", "??": "?"}


def columns_text(names: Sequence[str]) -> str:
    """Names of columns, one after the other."""
    return ", ".join(map(quoted, names))


def insert_text(
    table: str, names: Sequence[str], key: Sequence[str], source: str, mode: str
) -> str:
    """Put in what a source gives, `VALUES …` or `SELECT …`; upsert changes rows that are there."""
    statement = f"INSERT INTO {quoted_table(table)} ({columns_text(names)}) {source}"
    if mode != UPSERT:
        return statement
    rest = [each for each in names if each not in key]
    sets = ", ".join(f"{quoted(each)} = excluded.{quoted(each)}" for each in rest)
    change = f"DO UPDATE SET {sets}" if rest else "DO NOTHING"
    return f"{statement} ON CONFLICT ({columns_text(key)}) {change}"


def same_key(key: Sequence[str]) -> str:
    """That a row of the target, `t`, is one of the stage, `s`."""
    return " AND ".join(f"t.{quoted(each)} = s.{quoted(each)}" for each in key)


def without_zone(value: object) -> object:
    """A time in UTC, for databases whose times have no zone; other values stay."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC).replace(tzinfo=None)
    return value


def with_format_marks(statement: str) -> str:
    """`%s` for each `?` that stands alone and outside of quotes; `??` is one `?`."""
    return _QUESTION.sub(lambda each: _MARKS.get(each[0], each[0]), statement.replace("%", "%%"))
