"""Rows as people read them, or programs."""

import csv
import io
import json
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

from pyspark.sql import Row

from moldau.spark.reasons import reason

FORMS = ("table", "json", "csv")
CELL_MAX = 60
"""A longer cell is cut in a table; the other forms have all of it."""
_NULL = "NULL"
_OF_SPARK = re.compile(r"^\[[A-Z0-9_.]+\] | SQLSTATE: \w{5}")


def rendered(names: Sequence[str], rows: Sequence[Sequence[object]], form: str) -> str:
    """Rows under the names of their columns, in one of the forms."""
    if form == "json":
        return "\n".join(
            json.dumps(dict(zip(names, map(plain, row), strict=True)), ensure_ascii=False)
            for row in rows
        )
    if form == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([["" if each is None else shown(each) for each in row] for row in rows])
        return text.getvalue().rstrip("\n")
    return _table(names, rows)


def failure_text(report: str) -> str:
    """What is wrong with a statement, as Spark says it, or why it failed."""
    if _OF_SPARK.match(report):
        lines = report.splitlines()
        return _OF_SPARK.sub("", lines[0]).rstrip(";")
    return reason(report)


def plain(value: object) -> object:
    """A value as JSON has it."""
    match value:
        case Row():
            return {name: plain(each) for name, each in value.asDict().items()}
        case dict():
            return {str(name): plain(each) for name, each in value.items()}
        case list():
            return [plain(each) for each in value]
        case datetime():
            return _time(value)
        case date() | Decimal():
            return str(value)
        case bytes() | bytearray():
            return bytes(value).hex()
    return value


def shown(value: object) -> str:
    """A value in a cell."""
    if value is None:
        return _NULL
    if isinstance(value, bool):
        return str(value).lower()
    found = plain(value)
    if isinstance(found, dict | list):
        return json.dumps(found, ensure_ascii=False)
    return str(found)


def _table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    cells = [[_cut(shown(each)) for each in row] for row in rows]
    columns = list(zip(names, *cells, strict=True))
    widths = [max(map(len, column)) for column in columns]
    is_number = [_is_number([row[at] for row in rows]) for at in range(len(names))]

    def line(texts: Sequence[str]) -> str:
        aligned = (
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(texts, widths, is_number, strict=True)
        )
        return " | ".join(aligned).rstrip()

    return "\n".join([line(names), "-+-".join("-" * width for width in widths), *map(line, cells)])


def _is_number(values: Sequence[object]) -> bool:
    known = [each for each in values if each is not None]
    return bool(known) and all(
        isinstance(each, int | float | Decimal) and not isinstance(each, bool) for each in known
    )


def _cut(text: str) -> str:
    flat = text.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")
    return flat if len(flat) <= CELL_MAX else flat[: CELL_MAX - 1] + "…"


def _time(value: datetime) -> str:
    # Spark gives times of this machine's zone, without saying so.
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
