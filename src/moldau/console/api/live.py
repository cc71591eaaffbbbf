"""A topic as it grows, in the one stream of a tab: records and numbers together."""

import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

from moldau.console.access import Role
from moldau.console.api.looks import QUERY, query_of, view_of, who
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint, to_json
from moldau.console.events import WantedNumbers, numbers_event
from moldau.console.seats import Seats
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from moldau.console.messages.query import MessageQuery
    from moldau.console.messages.tailing import LiveFrame

_KEEP_ALIVE_S = 15.0
VIEWS = Seats("live views", total=50, each=10)
_ASKED = ("filter", "key", "partitions", "uncommitted", "columns", "cursor")


async def live(call: ApiCall) -> object:
    """Records as they come, bounded; ends with the tab, and goes on after its last event."""
    from moldau.console.messages.query import read_cursor  # noqa: PLC0415 - imports Arrow

    query = query_of(call)
    last = call.request.headers.get("last-event-id")
    if last:
        try:
            query = replace(query, cursor=read_cursor(last))
        except ValueError:
            raise WebError(400, "Last-Event-ID: offsets by partition, such as 0:17,1:4") from None
    return StreamingResponse(
        _stream(call, query),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _stream(call: ApiCall, query: "MessageQuery") -> AsyncIterator[str]:
    # Browsers do not say why a stream was refused: so it begins, and says it.
    yield "retry: 2000\n\n"
    try:
        with VIEWS.taking(who(call)):
            async for event in _events(call, query):
                yield event
    except WebError as error:
        yield _event("live", {"error": error.message, "is_over": True})


async def _events(call: ApiCall, query: "MessageQuery") -> AsyncIterator[str]:
    from moldau.console.messages.tailing import follow  # noqa: PLC0415 - imports Arrow

    sampler = call.console.samplers[call.cluster.name]
    at_ms, sent_s, is_begun = sampler.sample.at_ms, time.monotonic(), False
    topic = call.path("topic")
    with sampler.watching():
        async with aclosing(follow(call.cluster.settings, topic, query, view_of(call))) as frames:
            async for frame in frames:
                if sampler.is_closed:
                    return
                now_s = time.monotonic()
                if sampler.sample.at_ms > at_ms:
                    at_ms, sent_s = sampler.sample.at_ms, now_s
                    yield numbers_event(sampler.sample, None, WantedNumbers())
                if frame.has_news or not is_begun:  # the first says where a pause goes on
                    sent_s, is_begun = now_s, is_begun or bool(frame.cursor)
                    yield _frame(frame)
                elif now_s - sent_s > _KEEP_ALIVE_S:
                    sent_s = now_s
                    yield ": still here\n\n"


def _frame(frame: "LiveFrame") -> str:
    said = {
        "rows": frame.rows,
        "jumped": frame.jumped,
        "dropped": frame.dropped,
        "scanned": frame.scanned,
        "cursor": frame.cursor,
        "error": frame.error,
    }
    event = _event("live", said)
    return f"id: {frame.cursor}\n{event}" if frame.cursor else event


def _event(kind: str, said: dict[str, object]) -> str:
    return f"event: {kind}\ndata: {to_json(said)}\n\n"


ENDPOINTS = (
    ApiEndpoint(
        *("GET", f"{PREFIX}/topics/{{topic}}/live", Role.READER, "Records as they come", live),
        query={name: text for name, text in QUERY.items() if name in _ASKED},
        is_audited_read=True,
        is_masked=True,
    ),
)
