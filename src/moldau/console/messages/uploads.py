"""Files of records, read piece by piece: lines of JSON, CSV and Parquet, as exports have them."""

import base64
import binascii
import csv
import json
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from moldau.client.arrow.tables import HEADERS
from moldau.web.nesting import DEPTH_MAX, depth

ROWS_AT_ONCE = 1000
BYTES_AT_ONCE = 4 << 20
LINE_BYTES_MAX = 16 << 20
_GROUP_BYTES_MAX = 512 << 20
SCHEMA = pa.schema(
    [
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("partition", pa.int32()),
        pa.field("timestamp", pa.int64()),
        pa.field("headers", HEADERS),
    ]
)
_Row = dict[str, Any]


class UploadError(ValueError):
    """A file that cannot be read: which line, and why."""


def tables_of(file: IO[bytes], kind: str, now_ms: int) -> Iterator[pa.Table]:
    """Tables of the columns of SCHEMA; what has no time gets this one, and partition 0."""
    if kind == "parquet":
        yield from _parquet(file, now_ms)
        return
    rows = _json_rows(file) if kind == "jsonl" else _csv_rows(file)
    held: list[_Row] = []
    size = 0
    for row in rows:
        held.append({"partition": 0, "timestamp": now_ms, "headers": [], **row})
        size += len(row["key"] or b"") + len(row["value"] or b"")
        if len(held) >= ROWS_AT_ONCE or size >= BYTES_AT_ONCE:
            yield pa.Table.from_pylist(held, SCHEMA)
            held, size = [], 0
    if held:
        yield pa.Table.from_pylist(held, SCHEMA)


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    number = 0
    while line := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(line) > LINE_BYTES_MAX:
            raise UploadError(f"line {number} is longer than {LINE_BYTES_MAX >> 20} MiB")
        yield line


def _json_rows(file: IO[bytes]) -> Iterator[_Row]:
    for number, line in enumerate(_lines(file), 1):
        if not line.strip():
            continue
        try:
            text = line.decode()
            if depth(text) > DEPTH_MAX:
                raise UploadError(f"nested deeper than {DEPTH_MAX}")
            yield _row(json.loads(text))
        except ValueError as error:
            raise UploadError(f"line {number}: {error}") from error


def _row(found: object) -> _Row:
    if not isinstance(found, dict):
        raise UploadError("a line is an object with key and value")
    row: _Row = {name: _bytes(found, name) for name in ("key", "value")}
    for name in ("partition", "timestamp"):
        if found.get(name) is not None:
            row[name] = _whole(name, found[name])
    headers = found.get("headers") or []
    if not isinstance(headers, list) or not all(isinstance(each, dict) for each in headers):
        raise UploadError("headers: a list of name and value")
    row["headers"] = [
        {"key": str(each.get("name", "")), "value": _bytes(each, "value")} for each in headers
    ]
    return row


def _bytes(found: Mapping[str, object], name: str) -> bytes | None:
    coded = found.get(f"{name}_base64")
    if coded is not None:
        try:
            return base64.b64decode(str(coded), validate=True)
        except binascii.Error:
            raise UploadError(f"{name}_base64: that is not base64") from None
    value = found.get(name)
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode()


def _whole(name: str, value: object) -> int:
    try:
        found = int(str(value))
    except ValueError:
        raise UploadError(f"{name}: {value} is no whole number") from None
    low, high = (0, 2**31 - 1) if name == "partition" else (-1, 2**62)
    if not low <= found <= high:
        raise UploadError(f"{name}: {found} is not between {low} and {high}")
    return found


def _csv_rows(file: IO[bytes]) -> Iterator[_Row]:
    """Empty cells are null; formulas stay as they were guarded."""
    csv.field_size_limit(LINE_BYTES_MAX)
    texts = (line.decode() for line in _lines(file))
    reader = csv.reader(texts, strict=True)
    try:
        names = next(reader, [])
        if not {"key", "value"} & set(names):
            raise UploadError("the first line names the columns: key, value, or both")
        for cells in reader:
            given = dict(zip(names, cells, strict=False))
            row: _Row = {name: (given.get(name) or None) for name in ("key", "value")}
            found: _Row = {**row, **_optional(given)}
            yield _row(found)
    except (csv.Error, ValueError) as error:
        raise UploadError(f"line {reader.line_num}: {error}") from error


def _optional(given: Mapping[str, str]) -> _Row:
    found: _Row = {name: given[name] for name in ("partition", "timestamp") if given.get(name)}
    if given.get("headers"):
        pairs = json.loads(given["headers"])
        if not isinstance(pairs, list) or not all(_is_pair(each) for each in pairs):
            raise UploadError("headers: a list of pairs, in JSON")
        found["headers"] = [{"name": name, "value": value} for name, value in pairs]
    return found


def _is_pair(found: object) -> bool:
    return isinstance(found, list) and len(found) == 2


def _parquet(file: IO[bytes], now_ms: int) -> Iterator[pa.Table]:
    try:
        source = pq.ParquetFile(file)
        for number in range(source.metadata.num_row_groups):
            if source.metadata.row_group(number).total_byte_size > _GROUP_BYTES_MAX:
                raise UploadError(f"row group {number} has more than {_GROUP_BYTES_MAX >> 20} MiB")
        names = [name for name in SCHEMA.names if name in source.schema_arrow.names]
        if not {"key", "value"} & set(names):
            raise UploadError("its columns are neither key nor value")
        for batch in source.iter_batches(ROWS_AT_ONCE, columns=names):
            yield _typed(pa.Table.from_batches([batch]), now_ms)
    except (pa.ArrowException, OSError) as error:
        raise UploadError(f"no Parquet that can be read: {error}") from error


def _typed(table: pa.Table, now_ms: int) -> pa.Table:
    count = table.num_rows
    missing: Mapping[str, Callable[[], pa.Array]] = {
        "key": lambda: pa.nulls(count, pa.binary()),
        "value": lambda: pa.nulls(count, pa.binary()),
        "partition": lambda: pa.array([0] * count, pa.int32()),
        "timestamp": lambda: pa.array([now_ms] * count, pa.int64()),
        "headers": lambda: pa.array([[]] * count, HEADERS),
    }
    columns: list[pa.Array | pa.ChunkedArray] = []
    for field in SCHEMA:
        if field.name not in table.column_names:
            columns.append(missing[field.name]())
            continue
        column = table[field.name]
        if field.name == "timestamp" and pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("ms", tz=column.type.tz), safe=False)
        columns.append(column.cast(field.type))
    return pa.table(columns, schema=SCHEMA)
