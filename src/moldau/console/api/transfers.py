"""Many records written at once: copies of those that a query finds, or those of a file."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from starlette.datastructures import QueryParams
from starlette.responses import StreamingResponse

from moldau.console.access import Role
from moldau.console.api.looks import SCANS, look, who
from moldau.console.api.messages import record_of
from moldau.console.api.producing import producer_for, require_topic
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint, to_json, web_error
from moldau.console.seats import Seats
from moldau.errors import KafkaError
from moldau.web.bodies import check_json
from moldau.web.errors import WebError

if TYPE_CHECKING:
    import pyarrow as pa

    from moldau.console.messages.query import MessageQuery
    from moldau.console.messages.writing import WritingRules

WRITES = Seats("replays and imports", total=4, each=2)
_CHOSEN_MAX = 100
_COPIED, _COPIED_MAX = 1000, 1_000_000
_UPLOAD_BYTES_MAX = 1 << 30
_KINDS = ("jsonl", "csv", "parquet")
_Tables = AsyncIterator["pa.Table"]


async def replay(call: ApiCall) -> object:
    """Write records again, byte for byte, to the same topic or to another: lines of progress."""
    from moldau.console.messages.query import read_query  # noqa: PLC0415 - imports Arrow

    sent = await call.body()
    to = sent.get("to") or call.path("topic")
    if not isinstance(to, str):
        raise WebError(400, "to: the name of a topic")
    call.require(Role.OPERATOR, to)
    records = sent.get("records")
    if records is not None:
        tables = _chosen(call, _places(records))
    else:
        count = sent.get("limit", _COPIED)
        if not isinstance(count, int) or not 0 < count <= _COPIED_MAX:
            raise WebError(400, f"limit: 1 to {_COPIED_MAX:,}")
        query = read_query(QueryParams(str(sent.get("query") or "")))
        SCANS.check(who(call))
        tables = _found(call, replace(query, limit=count))
    await require_topic(call, to)
    WRITES.check(who(call))
    rules = _rules(bool(sent.get("keep_partition")), bool(sent.get("keep_time")))
    return _streamed(_written(call, to, tables, rules))


def _places(records: object) -> list[tuple[object, object]]:
    if not isinstance(records, list) or not 0 < len(records) <= _CHOSEN_MAX:
        raise WebError(400, f"records: 1 to {_CHOSEN_MAX} pairs of partition and offset")
    if not all(isinstance(each, list) and len(each) == 2 for each in records):
        raise WebError(400, "records: pairs of partition and offset")
    return [(each[0], each[1]) for each in records]


async def _chosen(call: ApiCall, places: list[tuple[object, object]]) -> _Tables:
    import pyarrow as pa  # noqa: PLC0415

    from moldau.console.messages.uploads import SCHEMA  # noqa: PLC0415

    for partition, offset in places:
        record = await record_of(call, partition, offset)
        row = {name: record[name] for name in SCHEMA.names}
        yield pa.Table.from_pylist([row], SCHEMA)


async def _found(call: ApiCall, query: "MessageQuery") -> _Tables:
    from moldau.console.messages.scanning import Budget  # noqa: PLC0415

    budget = Budget(seconds=600.0, records=500_000_000, bytes=100 << 30)
    async with aclosing(look(call, replace(query, is_uncommitted=False), budget)) as tables:
        async for table, _ in tables:
            yield table


async def upload(call: ApiCall) -> object:
    """Write the records of a file: lines of progress."""
    kind = call.text("format", "jsonl")
    if kind not in _KINDS:
        raise WebError(400, f"format: one of {', '.join(_KINDS)}")
    check_json(call.request)
    await require_topic(call, call.path("topic"))
    with WRITES.taking(who(call)):
        file = await asyncio.to_thread(tempfile.TemporaryFile)
        try:
            await _keep(call, file)
        except BaseException:
            file.close()
            raise
    rules = _rules(call.text("keep_partition") == "1", call.text("keep_time") == "1")
    return _streamed(_written(call, call.path("topic"), _read(file, kind), rules))


async def _keep(call: ApiCall, file: IO[bytes]) -> None:
    size = 0
    async for piece in call.request.stream():
        size += len(piece)
        if size > _UPLOAD_BYTES_MAX:
            raise WebError(413, f"a file has at most {_UPLOAD_BYTES_MAX >> 30} GiB")
        await asyncio.to_thread(file.write, piece)
    file.seek(0)


async def _read(file: IO[bytes], kind: str) -> _Tables:
    from moldau.console.messages.uploads import UploadError, tables_of  # noqa: PLC0415

    with file:
        tables: Iterator[pa.Table] = tables_of(file, kind, time.time_ns() // 1_000_000)
        take: Callable[[], pa.Table | None] = lambda: next(tables, None)  # noqa: E731
        try:
            while (table := await asyncio.to_thread(take)) is not None:
                yield table
        except UploadError as error:
            raise WebError(400, str(error)) from error


def _rules(keeps_partition: bool, keeps_time: bool) -> "WritingRules":
    from moldau.console.messages.writing import WritingRules  # noqa: PLC0415 - imports Arrow

    return WritingRules(keeps_partition, keeps_time)


async def _written(
    call: ApiCall, topic: str, tables: _Tables, rules: "WritingRules"
) -> AsyncIterator[str]:
    from moldau.console.messages.writing import write_table  # noqa: PLC0415 - imports Arrow

    written = 0
    error: str | None = None
    try:
        with WRITES.taking(who(call)):
            async with aclosing(tables), producer_for(call) as producer:  # type: ignore[type-var]
                async for table in tables:
                    if table.num_rows:
                        written += await write_table(producer, topic, table, rules)
                        yield to_json({"progress": {"written": written}}) + "\n"
    except KafkaError as failure:
        error = web_error(failure).message
    except WebError as failure:
        error = failure.message
    except ValueError as failure:  # a partition that the topic has not
        error = str(failure)
    action = f"wrote {written} records to {topic}"
    call.console.audit.note(call.actor.name, action, 200 if error is None else 409, {})
    end = {"written": written, "topic": topic} | ({} if error is None else {"error": error})
    yield to_json({"end": end}) + "\n"


def _streamed(lines: AsyncIterator[str]) -> StreamingResponse:
    return StreamingResponse(
        lines, media_type="application/x-ndjson", headers={"X-Accel-Buffering": "no"}
    )


_TOPIC = f"{PREFIX}/topics/{{topic}}"
_KEEP = {
    "keep_partition": "to the partition of the same number, not by the key",
    "keep_time": "with the time that they have, not that of writing",
}
ENDPOINTS = (
    ApiEndpoint(
        *("POST", f"{_TOPIC}/replay", Role.OPERATOR, "Write records of a topic again", replay),
        body={
            "to": "another topic; the same one if left out",
            "records": f"up to {_CHOSEN_MAX} pairs of partition and offset; or",
            "query": "a query as looks at records have it, such as start=oldest&key=a",
            "limit": f"how many of its hits, {_COPIED:,} unless said",
            **_KEEP,
        },
    ),
    ApiEndpoint(
        *("POST", f"{_TOPIC}/import", Role.OPERATOR, "Write the records of a file", upload),
        query={
            "format": "jsonl, csv or parquet",
            **{name: f"1: {text}" for name, text in _KEEP.items()},
        },
        body={"file": "is the body itself, as application/octet-stream"},
        is_masked=True,
    ),
)
