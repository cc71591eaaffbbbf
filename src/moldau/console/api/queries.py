"""SQL over a part of a topic."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

from moldau.console.access import Role
from moldau.console.api.looks import QUERY, SCANS, look, query_of, reader_of, who
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint, to_json, web_error
from moldau.console.seats import Seats
from moldau.errors import KafkaError
from moldau.web.errors import WebError

if TYPE_CHECKING:
    import pyarrow as pa

    from moldau.console.messages.query import MessageQuery

QUERIES = Seats("statements", total=2, each=1)
_RECORDS, _RECORDS_MAX = 100_000, 1_000_000
_BYTES_MAX = 128 << 20
_SQL_CHARACTERS_MAX = 10_000
_NOT_HERE = 501


async def query(call: ApiCall) -> object:
    """Read some records, then run one SELECT over them: lines of JSON, the result the last."""
    sql = call.text("sql").strip().rstrip(";")
    if not sql or len(sql) > _SQL_CHARACTERS_MAX:
        raise WebError(400, f"sql: one SELECT of at most {_SQL_CHARACTERS_MAX} characters")
    if importlib.util.find_spec("duckdb") is None:
        raise WebError(_NOT_HERE, "SQL needs DuckDB: pip install 'moldau[console-sql]'")
    asked = query_of(call)
    count = call.number("limit", _RECORDS, low=1, high=_RECORDS_MAX)
    SCANS.check(who(call))
    QUERIES.check(who(call))
    return StreamingResponse(
        _lines(call, sql, replace(asked, limit=count)),
        media_type="application/x-ndjson",
        headers={"X-Accel-Buffering": "no"},
    )


async def _lines(call: ApiCall, sql: str, asked: "MessageQuery") -> AsyncIterator[str]:
    from moldau.client.arrow.tables import schema_of  # noqa: PLC0415 - imports Arrow
    from moldau.console.messages.scanning import COLUMNS, Budget  # noqa: PLC0415
    from moldau.console.queries.process import ask  # noqa: PLC0415
    from moldau.console.queries.slices import slice_of  # noqa: PLC0415

    tables: list[pa.Table] = []
    held, scan = 0, None
    try:
        with QUERIES.taking(who(call)):
            async with aclosing(look(call, asked, Budget(seconds=20.0))) as found:
                async for table, scan in found:
                    if table.num_rows:
                        tables.append(table)
                        held += table.nbytes
                    yield to_json({"progress": scan.progress()}) + "\n"
                    if held >= _BYTES_MAX:
                        scan.stopped = "bytes"
                        break
            records = await asyncio.to_thread(slice_of, tables, schema_of(COLUMNS), reader_of(call))
            tables.clear()
            result = await ask(sql, records)
            result |= {"records": records.num_rows, "slice": scan.stopped if scan else "end"}
            yield to_json({"result": result}) + "\n"
    except KafkaError as error:
        yield to_json({"error": web_error(error).message}) + "\n"
    except WebError as error:
        yield to_json({"error": error.message}) + "\n"


ENDPOINTS = (
    ApiEndpoint(
        *("GET", f"{PREFIX}/topics/{{topic}}/sql", Role.READER, "SQL over a topic", query),
        query={
            **QUERY,
            "sql": "one SELECT over the table `records`",
            "limit": f"how many records are read, {_RECORDS:,} unless said",
        },
        is_audited_read=True,
        is_masked=True,
    ),
)
