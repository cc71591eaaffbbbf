"""Records: looked through, and shown whole."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from moldau.console.access import Role
from moldau.console.api.looks import QUERY, SCANS, look, query_of, reader_of, who
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint, to_json, web_error
from moldau.console.messages.payloads import hexadecimal, payload, rows_of, shown, shown_rows
from moldau.console.messages.registered import by_schema
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from moldau.client.consumer.consumer import Consumer
    from moldau.console.masking import TopicMask
    from moldau.console.messages.query import MessageQuery
    from moldau.console.messages.scanning import Scan

MESSAGES = f"{PREFIX}/topics/{{topic}}/messages"
_WHOLE_BYTES_MAX = 1 << 20


async def messages(call: ApiCall) -> object:
    """Records, how far the look came, and where to go on: a line of JSON each."""
    query = query_of(call)
    SCANS.check(who(call))
    return StreamingResponse(
        _lines(call, query),
        media_type="application/x-ndjson",
        headers={"X-Accel-Buffering": "no"},
    )


async def _lines(call: ApiCall, query: "MessageQuery") -> AsyncIterator[str]:
    from moldau.console.messages.scanning import Budget  # noqa: PLC0415

    scan: Scan | None = None
    read = reader_of(call)
    try:
        async with aclosing(look(call, query, Budget())) as tables:
            async for table, scan in tables:
                for row in await asyncio.to_thread(shown_rows, table, read, query.columns):
                    yield to_json({"row": row}) + "\n"
                yield to_json({"progress": scan.progress()}) + "\n"
        end = {"stopped": "end", "cursor": ""} if scan is None else scan.end()
        yield to_json({"end": end}) + "\n"
    except KafkaError as error:
        yield to_json({"error": web_error(error).message}) + "\n"
    except WebError as error:
        yield to_json({"error": error.message}) + "\n"


async def message(call: ApiCall) -> object:
    """One record whole; as a file if `download` says so, and always if it is large."""
    record = await record_of(call, call.path("partition"), call.path("offset"))
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


async def record_of(call: ApiCall, partition: object, offset: object) -> dict[str, object]:
    """One record of the topic of a request; 404 if there is none."""
    from moldau.console.messages.reading import reading  # noqa: PLC0415

    try:
        place, at = TopicPartition(call.path("topic"), int(str(partition))), int(str(offset))
    except ValueError:
        raise WebError(400, "a partition and an offset are numbers") from None
    async with reading(call.cluster.settings, is_uncommitted=True) as consumer:
        known = await consumer.partitions_of(place.topic)
        ends = await consumer.end_offsets([place]) if place in known else {place: 0}
        if not 0 <= at < ends[place]:
            raise WebError(404, f"{place} has no record {at}")
        return await _first(consumer, place, at, call.mask)


async def _first(
    consumer: "Consumer[bytes, bytes]",
    place: TopicPartition,
    offset: int,
    mask: "TopicMask | None",
) -> dict[str, object]:
    consumer.assign({place: offset})
    table = await consumer.poll_table(5.0, end_offsets={place: offset + 1})
    if not table.num_rows:
        raise WebError(404, f"{place} has no record {offset}: compacted, or deleted")
    one = table.slice(0, 1)
    return rows_of(one if mask is None else mask.table(one))[0]


ENDPOINTS = (
    ApiEndpoint(
        *("GET", MESSAGES, Role.READER, "Records of a topic, as lines of JSON", messages),
        query=QUERY,
        is_audited_read=True,
        is_masked=True,
    ),
    ApiEndpoint(
        *("GET", f"{MESSAGES}/{{partition}}/{{offset}}", Role.READER, "One record", message),
        query={"download": "key or value: as a file"},
        is_audited_read=True,
        is_masked=True,
    ),
)
