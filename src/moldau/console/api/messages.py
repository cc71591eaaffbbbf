"""Records: looked through, shown whole, exported and produced."""

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from moldau.client.producer.producer import Producer
from moldau.console.access import Role
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint, to_json, web_error
from moldau.console.messages.payloads import hexadecimal, payload, shown
from moldau.console.messages.registered import by_schema
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.web.errors import WebError

if TYPE_CHECKING:
    import pyarrow as pa

    from moldau.client.consumer.consumer import Consumer
    from moldau.console.messages.query import MessageQuery

_MESSAGES = f"{PREFIX}/topics/{{topic}}/messages"
_SCANS_MAX = 8
_WHOLE_BYTES_MAX = 1 << 20
_EXPORTED_MAX = 100_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_scans = asyncio.Semaphore(_SCANS_MAX)


async def messages(call: ApiCall) -> object:
    """Records, how far the look came, and where to go on: a line of JSON each."""
    query = _query(call)
    if _scans.locked():
        raise WebError(429, f"{_SCANS_MAX} topics are being looked through: try again soon")
    return StreamingResponse(
        _lines(call, query),
        media_type="application/x-ndjson",
        headers={"X-Accel-Buffering": "no"},
    )


def _query(call: ApiCall) -> "MessageQuery":
    # Arrow is imported with the first look: a console that nobody uses stays small.
    from moldau.console.messages.query import read_query  # noqa: PLC0415

    return read_query(call.request.query_params)


async def _lines(call: ApiCall, query: "MessageQuery") -> AsyncIterator[str]:
    from moldau.console.messages.scanning import Budget, Scanner, reading  # noqa: PLC0415

    topic = call.path("topic")
    try:
        async with (
            _scans,
            reading(call.cluster.settings, is_uncommitted=query.is_uncommitted) as consumer,
        ):
            scanner = Scanner(consumer, topic, query, Budget())
            async with aclosing(scanner.run()) as tables:
                async for table in tables:
                    for row in rows_of(table):
                        yield to_json({"row": shown(row)}) + "\n"
                    yield to_json({"progress": scanner.scan.progress()}) + "\n"
        scan = scanner.scan
        cursor = ",".join(f"{partition}:{at}" for partition, at in sorted(scan.cursor.items()))
        end = {"stopped": scan.stopped, "cursor": cursor, **scan.progress()}
        yield to_json({"end": end}) + "\n"
    except KafkaError as error:
        yield to_json({"error": web_error(error).message}) + "\n"


def rows_of(table: "pa.Table") -> list[dict[str, object]]:
    """Rows with times as milliseconds."""
    at = table.schema.get_field_index("timestamp")
    if at >= 0 and table.num_rows:
        table = table.set_column(at, "timestamp", table.column(at).cast("int64"))
    found: list[dict[str, object]] = table.to_pylist()
    return found


async def message(call: ApiCall) -> object:
    """One record whole; as a file if `download` says so, and always if it is large."""
    record = await _record(call)
    if call.text("download"):
        data = record[call.text("download")] if call.text("download") in ("key", "value") else None
        if not isinstance(data, bytes):
            raise WebError(404, "download: key or value, of which there is one")
        name = f"{call.path('partition')}-{call.path('offset')}.bin"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(data, media_type="application/octet-stream", headers=headers)
    parts: dict[str, object] = dict(shown(record))
    for name in ("key", "value"):
        data = record[name]
        if isinstance(data, bytes):
            part = payload(data, is_value=name == "value", limit=_WHOLE_BYTES_MAX)
            parts[name] = {
                **part,
                "hex": hexadecimal(data[:4096]),
                "registered": await _registered(call, data),
            }
    return parts


async def _registered(call: ApiCall, data: bytes) -> dict[str, object] | None:
    values = call.console.registered
    return None if values is None else await by_schema(values, data)


async def _record(call: ApiCall) -> dict[str, object]:
    try:
        partition, offset = int(call.path("partition")), int(call.path("offset"))
    except ValueError:
        raise WebError(400, "a partition and an offset are numbers") from None
    from moldau.console.messages.scanning import reading  # noqa: PLC0415

    place = TopicPartition(call.path("topic"), partition)
    async with reading(call.cluster.settings, is_uncommitted=True) as consumer:
        known = await consumer.partitions_of(place.topic)
        ends = await consumer.end_offsets([place]) if place in known else {place: 0}
        if not 0 <= offset < ends[place]:
            raise WebError(404, f"{place} has no record {offset}")
        return await _first(consumer, place, offset)


async def _first(
    consumer: "Consumer[bytes, bytes]", place: TopicPartition, offset: int
) -> dict[str, object]:
    consumer.assign({place: offset})
    table = await consumer.poll_table(5.0, end_offsets={place: offset + 1})
    if not table.num_rows:
        raise WebError(404, f"{place} has no record {offset}: compacted, or deleted")
    return rows_of(table.slice(0, 1))[0]


async def produce(call: ApiCall) -> object:
    """Write one record."""
    sent = await call.body()
    partition = sent.get("partition")
    if partition is not None and (not isinstance(partition, int) or isinstance(partition, bool)):
        raise WebError(400, "partition: a whole number")
    headers = sent.get("headers") or {}
    if not isinstance(headers, dict):
        raise WebError(400, "headers: texts by name")
    key, value = _bytes(sent, "key"), _bytes(sent, "value")
    topic = call.path("topic")
    admin = await call.admin()
    (await admin.describe_topics(topic)).check()
    settings = {"client.id": "moldau-console", **call.cluster.settings}
    async with Producer(
        {**settings, "delivery.timeout.ms": 10_000, "request.timeout.ms": 5000}
    ) as to:
        place = await to.send_and_wait(
            topic,
            value,
            key=key,
            partition=partition,
            headers=[(str(name), str(value).encode()) for name, value in headers.items()],
        )
    return {"partition": place.partition, "offset": str(place.offset)}


def _bytes(sent: dict[str, object], name: str) -> bytes | None:
    found = sent.get(name)
    if found is not None and not isinstance(found, str):
        raise WebError(400, f"{name}: a text, or null")
    return None if found is None else found.encode()


async def export(call: ApiCall) -> object:
    """All hits of a query as a file, not only those of a page."""
    kind = call.text("format", "jsonl")
    if kind not in _WRITERS:
        raise WebError(400, f"format: one of {', '.join(_WRITERS)}")
    query = _query(call)
    media_type, write = _WRITERS[kind]
    headers = {"Content-Disposition": f'attachment; filename="records.{kind}"'}
    return StreamingResponse(_exported(call, query, write), media_type=media_type, headers=headers)


async def _exported(
    call: ApiCall, query: "MessageQuery", write: "Callable[[pa.Table], str]"
) -> AsyncIterator[str]:
    from moldau.console.messages.scanning import Budget, Scanner, reading  # noqa: PLC0415

    budget = Budget(seconds=120.0, records=50_000_000, bytes=10 << 30)
    count = 0
    async with (
        _scans,
        reading(call.cluster.settings, is_uncommitted=query.is_uncommitted) as consumer,
    ):
        scanner = Scanner(consumer, call.path("topic"), query, budget)
        async with aclosing(scanner.run()) as tables:
            async for table in tables:
                if table.num_rows:
                    yield write(table)
                count += table.num_rows
                if count >= _EXPORTED_MAX:
                    return


def json_lines(table: "pa.Table") -> str:
    """Records as lines; bytes that are no text as hexadecimal digits."""
    lines = []
    for row in rows_of(table):
        headers = row["headers"]
        assert isinstance(headers, list)
        row["headers"] = [[each["key"], _text(each["value"])] for each in headers]
        lines.append(json.dumps({**row, "key": _text(row["key"]), "value": _text(row["value"])}))
    return "".join(f"{line}\n" for line in lines)


def comma_separated(table: "pa.Table") -> str:
    """Records as a spreadsheet reads them, without what it would run as a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    for row in rows_of(table):
        cells = [row["partition"], row["offset"], row["timestamp"]]
        writer.writerow([*cells, *(_safe(_text(row[name])) for name in ("key", "value"))])
    return out.getvalue()


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


_WRITERS: "dict[str, tuple[str, Callable[[pa.Table], str]]]" = {
    "jsonl": ("application/octet-stream", json_lines),
    "csv": ("application/octet-stream", comma_separated),
}
_QUERY = {
    "start": "newest, oldest, offset or time",
    "offset": "the first offset, with start=offset",
    "from": "no records before this time, in ISO form or milliseconds",
    "to": "no records from this time on",
    "limit": "how many hits, 50 unless said",
    "filter": "see docs/console.md",
    "key": "records of this key, from its partition alone",
    "partitions": "numbers with commas between; all if left out",
    "uncommitted": "1: records of open and aborted transactions as well",
    "cursor": "where an earlier answer stopped",
}
ENDPOINTS = (
    ApiEndpoint(
        *("GET", _MESSAGES, Role.READER, "Records of a topic, as lines of JSON", messages),
        query=_QUERY,
        is_audited_read=True,
    ),
    ApiEndpoint(
        *("POST", _MESSAGES, Role.OPERATOR, "Write a record", produce),
        body={
            "key": "a text, or null",
            "value": "a text; null is a tombstone",
            "headers": "texts by name",
            "partition": "a number; chosen by the key if left out",
        },
    ),
    ApiEndpoint(
        *("GET", f"{PREFIX}/topics/{{topic}}/export", Role.READER, "Records as a file", export),
        query={**_QUERY, "format": "jsonl or csv"},
        is_audited_read=True,
    ),
    ApiEndpoint(
        *("GET", f"{_MESSAGES}/{{partition}}/{{offset}}", Role.READER, "One record", message),
        query={"download": "key or value: as a file"},
        is_audited_read=True,
    ),
)
