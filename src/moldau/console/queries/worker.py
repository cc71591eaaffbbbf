"""The process that runs one statement: it has a table and a time, and neither files nor network.

Memory that DuckDB does not count, as a text of gigabytes, is bounded by the operating system.
It reads a line of JSON and a stream of Arrow, and writes a line of JSON.
"""

import json
import resource
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, BinaryIO

import duckdb
import pyarrow as pa
import pyarrow.ipc

MEMORY_BYTES_MAX = 3 << 30
ROWS_MAX = 5000
CELL_CHARACTERS_MAX = 2048
_RESULT_CHARACTERS_MAX = 8 << 20
_AT_ONCE = 100
_SETTINGS: Mapping[str, str] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "memory_limit": "512MB",
    "temp_directory": "",
    "threads": "2",
}
_VIEW = """
    CREATE VIEW records AS
    SELECT *, CASE WHEN json_valid(value) THEN CAST(value AS JSON) END AS json FROM slice
"""


class NotOneSelect(ValueError):
    """What was sent is something else than a single SELECT."""


def run(sql: str, table: pa.Table, seconds: float) -> dict[str, object]:
    """Columns and rows of one SELECT; NotOneSelect and duckdb.Error say what is wrong."""
    connection = duckdb.connect(":memory:", config=dict(_SETTINGS))
    check(sql)
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("given", table)
    connection.execute("CREATE TABLE slice AS SELECT * FROM given")
    connection.unregister("given")
    connection.execute(_VIEW)
    connection.execute("SET lock_configuration = true")
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    began_s = time.monotonic()
    try:
        found = connection.execute(sql)
        rows, is_cut = _rows(found)
        names = [
            {"name": str(each[0]), "type": str(each[1])} for each in connection.description or ()
        ]
    finally:
        timer.cancel()
    ms = int((time.monotonic() - began_s) * 1000)
    return {"columns": names, "rows": rows, "is_cut": is_cut, "ms": ms}


def check(sql: str) -> None:
    """NotOneSelect unless this is one statement that only reads."""
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise NotOneSelect("one SELECT, and nothing else")


def _rows(found: Any) -> tuple[list[list[str | None]], bool]:
    rows: list[list[str | None]] = []
    left = _RESULT_CHARACTERS_MAX
    while taken := found.fetchmany(_AT_ONCE):
        for row in taken:
            cells = [cell(each) for each in row]
            left -= sum(len(each or "") for each in cells)
            if len(rows) >= ROWS_MAX or left < 0:
                return rows, True
            rows.append(cells)
    return rows, False


def cell(value: object) -> str | None:
    """A value as text: numbers of any size stay what they are."""
    if value is None:
        return None
    if isinstance(value, bytes):
        text = f"0x{value[:CELL_CHARACTERS_MAX].hex()}"
    elif isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, dict | list | tuple):
        text = json.dumps(value, default=str, ensure_ascii=False)
    else:
        text = str(value)
    return text if len(text) <= CELL_CHARACTERS_MAX else f"{text[:CELL_CHARACTERS_MAX]}…"


def answer(source: BinaryIO) -> dict[str, object]:
    """The result of what was asked, or why there is none."""
    try:
        asked = json.loads(source.readline())
        with pyarrow.ipc.open_stream(source) as reader:
            table = reader.read_all()
        return run(asked["sql"], table, asked["seconds"])
    except duckdb.InterruptException:
        return {"error": "it took too long: read fewer records, or ask for less"}
    except (MemoryError, duckdb.OutOfMemoryException):
        return {"error": "it takes too much memory: read fewer records, or ask for less"}
    except (duckdb.Error, NotOneSelect) as error:
        return {"error": str(error)[:2000]}


def main() -> None:
    """Answer one request, within what this process may take."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(json.dumps(answer(sys.stdin.buffer)), flush=True)


if __name__ == "__main__":
    main()
