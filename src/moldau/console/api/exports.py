"""All hits of a query as a file, not only those of a page."""

import base64
import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

from moldau.console.access import Role
from moldau.console.api.looks import QUERY, SCANS, look, query_of, who
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint
from moldau.console.messages.payloads import rows_of
from moldau.web.errors import WebError

if TYPE_CHECKING:
    import pyarrow as pa

    from moldau.console.messages.query import MessageQuery

_EXPORTED_MAX = 1_000_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_CELLS = ("partition", "offset", "timestamp", "key", "value", "headers")


async def export(call: ApiCall) -> object:
    """All hits of a query as a file."""
    kind = call.text("format", "jsonl")
    if kind not in _WRITERS:
        raise WebError(400, f"format: one of {', '.join(_WRITERS)}")
    query = query_of(call)
    count = call.number("limit", _EXPORTED_MAX, low=1, high=_EXPORTED_MAX)
    SCANS.check(who(call))
    return StreamingResponse(
        _exported(call, replace(query, limit=count), _WRITERS[kind]()),
        media_type="application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="records.{kind}"'},
    )


async def _exported(call: ApiCall, query: "MessageQuery", file: "_File") -> AsyncIterator[bytes]:
    from moldau.console.messages.scanning import Budget  # noqa: PLC0415

    budget = Budget(seconds=600.0, records=500_000_000, bytes=100 << 30)
    async with aclosing(look(call, query, budget)) as tables:
        async for table, _ in tables:
            kept = without_markers(table)
            if kept.num_rows:
                yield file.piece(kept)
    yield file.end()


def without_markers(table: "pa.Table") -> "pa.Table":
    """Records alone: who imports markers would write tombstones."""
    if "state" not in table.column_names:
        return table
    import pyarrow as pa  # noqa: PLC0415 - only where something is exported

    kept = [not _is_marker(state) for state in table["state"].to_pylist()]
    return table.filter(pa.array(kept, pa.bool_()))


def _is_marker(state: str | None) -> bool:
    return state is not None and state.endswith("marker")


class _File:
    """A file that is sent while it is written."""

    def piece(self, table: "pa.Table") -> bytes:
        """What these records add."""
        raise NotImplementedError

    def end(self) -> bytes:
        """What closes it."""
        return b""


class JsonLines(_File):
    """A line of JSON for each record; bytes that are no text as `key_base64`, `value_base64`."""

    def piece(self, table: "pa.Table") -> bytes:
        """Lines."""
        lines = []
        for row in rows_of(table):
            found = {name: row[name] for name in ("partition", "offset", "timestamp")}
            found |= _named("key", row["key"]) | _named("value", row["value"])
            headers = row["headers"]
            assert isinstance(headers, Iterable)
            found["headers"] = [
                {"name": each["key"], **_named("value", each["value"])} for each in headers
            ]
            if row.get("state") is not None:
                found["state"] = row["state"]
            lines.append(json.dumps(found, ensure_ascii=False))
        return "".join(f"{line}\n" for line in lines).encode(errors="surrogatepass")


class CommaSeparated(_File):
    """Records as a spreadsheet reads them, without what it would run as a formula."""

    def __init__(self) -> None:
        self._is_begun = False

    def piece(self, table: "pa.Table") -> bytes:
        """Lines, after the names of the columns."""
        out = io.StringIO()
        writer = csv.writer(out)
        if not self._is_begun:
            writer.writerow(_CELLS)
            self._is_begun = True
        for row in rows_of(table):
            headers = row["headers"]
            assert isinstance(headers, Iterable)
            listed = [[each["key"], _text(each["value"])] for each in headers]
            texts = (_text(row["key"]), _text(row["value"]), json.dumps(listed) if listed else "")
            cells = [row["partition"], row["offset"], row["timestamp"]]
            writer.writerow([*cells, *(_safe(text) for text in texts)])
        return out.getvalue().encode()


class Parquet(_File):
    """Records as columns; keys and values are bytes."""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._writer: Callable[[pa.Table], None] | None = None
        self._close: Callable[[], None] = lambda: None

    def piece(self, table: "pa.Table") -> bytes:
        """A group of rows."""
        if self._writer is None:
            import pyarrow.parquet as pq  # noqa: PLC0415 - it takes some memory

            writer = pq.ParquetWriter(self._sink, table.schema, compression="zstd")
            self._writer, self._close = writer.write_table, writer.close
        self._writer(table)
        return self._sink.take()

    def end(self) -> bytes:
        """Where everything is."""
        if self._writer is None:  # a file without records is one as well
            from moldau.client.arrow.tables import schema_of  # noqa: PLC0415
            from moldau.console.messages.scanning import COLUMNS  # noqa: PLC0415

            self.piece(schema_of(COLUMNS).empty_table())
        self._close()
        return self._sink.take()


class _Sink(io.RawIOBase):
    """Keeps what is written until it is sent."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, data: object) -> int:
        piece = bytes(memoryview(data))  # type: ignore[arg-type]
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def take(self) -> bytes:
        """What was written since the last time."""
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


def _named(name: str, data: object) -> dict[str, object]:
    if data is None:
        return {name: None}
    assert isinstance(data, bytes)
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data).decode()}


def _text(data: object) -> str | None:
    if data is None:
        return None
    assert isinstance(data, bytes)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"0x{data.hex()}"


def _safe(text: str | None) -> str | None:
    return f"'{text}" if text and text.startswith(_FORMULA) else text


_WRITERS: "dict[str, Callable[[], _File]]" = {
    "jsonl": JsonLines,
    "csv": CommaSeparated,
    "parquet": Parquet,
}
ENDPOINTS = (
    ApiEndpoint(
        *("GET", f"{PREFIX}/topics/{{topic}}/export", Role.READER, "Records as a file", export),
        query={**QUERY, "format": "jsonl, csv or parquet", "limit": "a million unless said"},
        is_audited_read=True,
        is_masked=True,
    ),
)
