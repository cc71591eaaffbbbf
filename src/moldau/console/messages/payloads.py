"""Keys and values as pages show them: the first part, how long the whole is, and what it is."""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from moldau.console.masking import Path
from moldau.console.messages.columns import cells

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN_BYTES = 2048
_HEADERS_MAX, _HEADER_BYTES = 100, 256
_PARSED_BYTES_MAX = 65_536
_COPIED_BYTES_MAX = 4 << 20


def payload(data: bytes | None, *, is_value: bool, limit: int = SHOWN_BYTES) -> dict[str, object]:
    """What is known of a key or a value; numbers in JSON stay the text that they are."""
    if data is None:
        return {"kind": "tombstone" if is_value else "null", "text": "", "size": 0}
    if not data:
        return {"kind": "empty", "text": "", "size": 0}
    cut = data[:limit]
    found: dict[str, object] = {"size": len(data)}
    if len(cut) < len(data):
        found["is_cut"] = True
    try:
        text = _decoded(cut, is_cut=len(cut) < len(data))
    except UnicodeDecodeError:
        return {**found, "kind": "hex", "text": hexadecimal(cut[: limit // 4])}
    return {**found, "kind": "json" if _is_json(data) else "text", "text": text}


def _decoded(data: bytes, *, is_cut: bool) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if is_cut and error.start >= len(data) - 3:  # the limit was within a letter
            return data[: error.start].decode()
        raise


def _is_json(data: bytes) -> bool:
    if data.lstrip()[:1] not in (b"{", b"["):
        return False
    if len(data) > _PARSED_BYTES_MAX:
        return True
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def hexadecimal(data: bytes) -> str:
    """Bytes as editors show them, sixteen in a line."""
    lines = []
    for start in range(0, len(data), 16):
        part = data[start : start + 16]
        letters = "".join(chr(each) if 32 <= each < 127 else "." for each in part)
        lines.append(f"{start:08x}  {part.hex(' '):<47}  {letters}")
    return "\n".join(lines)


Read = Callable[[bytes], dict[str, object] | None]
"""What a registry makes of a value; None if that is nothing."""


def shown(
    row: Mapping[str, object], read: Read | None = None, columns: tuple[Path, ...] = ()
) -> dict[str, object]:
    """A record of a table as pages show it."""
    key, value, headers = row["key"], row["value"], row["headers"]
    assert key is None or isinstance(key, bytes)
    assert value is None or isinstance(value, bytes)
    assert isinstance(headers, list)
    found: dict[str, object] = {
        "partition": row["partition"],
        "offset": str(row["offset"]),
        "timestamp": row["timestamp"],
        "key": payload(key, is_value=False),
        "value": payload(value, is_value=True),
        "headers": [
            [_name(each["key"]), payload(each["value"], is_value=False, limit=_HEADER_BYTES)]
            for each in headers[:_HEADERS_MAX]
        ],
    }
    texts: dict[str, str] = {}
    for name, data in (("key", key), ("value", value)):
        registered = read(data) if read is not None and data else None
        part = found[name]
        if registered is not None and isinstance(part, dict):
            part["registered"] = _beginning(registered)
            if "text" in registered:
                texts[name] = str(registered["text"])
    if columns:
        found["columns"] = cells(row, columns, texts)
    if len(headers) > _HEADERS_MAX:
        found["headers_count"] = len(headers)
    if row.get("state") is not None:
        found["state"] = row["state"]
    return found


def _name(name: str) -> str:
    return name if len(name) <= _HEADER_BYTES else f"{name[:_HEADER_BYTES]}…"


def _beginning(registered: dict[str, object]) -> dict[str, object]:
    text = registered.get("text")
    if not isinstance(text, str) or len(text) <= SHOWN_BYTES:
        return registered
    return {**registered, "text": text[:SHOWN_BYTES], "is_cut": True}


def shown_rows(
    table: "pa.Table", read: Read | None = None, columns: tuple[Path, ...] = ()
) -> list[dict[str, object]]:
    """The records of a table as pages show them."""
    # Of large records only one at a time is copied, since most of each is cut away again.
    step = 1 if table.nbytes > _COPIED_BYTES_MAX else max(table.num_rows, 1)
    return [
        shown(row, read, columns)
        for start in range(0, table.num_rows, step)
        for row in rows_of(table.slice(start, step))
    ]


def rows_of(table: "pa.Table") -> list[dict[str, object]]:
    """Rows with times as milliseconds."""
    at = table.schema.get_field_index("timestamp")
    if at >= 0 and table.num_rows:
        table = table.set_column(at, "timestamp", table.column(at).cast("int64"))
    found: list[dict[str, object]] = table.to_pylist()
    return found
