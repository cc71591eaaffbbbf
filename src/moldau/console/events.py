"""The one stream of a tab: numbers as they change, as server-sent events.

Browsers keep six connections per host, so a tab has one stream for all that it shows. Its
address says what that is; when the page changes, the tab opens another.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

from moldau.console.access import Role
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint, to_json
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from moldau.console.sampling import NumbersSample, Sampler

_KEEP_ALIVE_S = 15.0
_STREAMS_MAX = 400


async def events(call: ApiCall) -> object:
    """Numbers of topics, and of groups if asked for, until the tab goes away."""
    sampler = call.console.samplers[call.cluster.name]
    if sampler.watchers >= _STREAMS_MAX:
        raise WebError(503, f"{_STREAMS_MAX} tabs look at {call.cluster.name}: close some")
    wanted = call.request.query_params.getlist("group")
    groups = None if call.text("groups") else wanted
    stream = _stream(sampler, groups, has_topics=bool(call.text("topics")))
    return StreamingResponse(
        stream,
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _stream(
    sampler: "Sampler", groups: list[str] | None, *, has_topics: bool
) -> AsyncIterator[str]:
    shown: dict[str, object] = {}
    yield "retry: 2000\n\n"
    with sampler.watching(groups):
        at_ms = sampler.sample.at_ms if not sampler.sample.topics else 0
        while True:
            try:
                async with asyncio.timeout(_KEEP_ALIVE_S):
                    sample = await sampler.next_sample(at_ms)
            except TimeoutError:
                yield ": still here\n\n"
                continue
            if sample is None:
                return
            at_ms = sample.at_ms
            yield f"event: numbers\ndata: {to_json(news(sample, shown, has_topics))}\n\n"


def news(sample: "NumbersSample", shown: dict[str, object], has_topics: bool) -> dict[str, object]:
    """What a tab does not know yet; `shown` is what it does, and is brought up to date."""
    found: dict[str, object] = {"at": sample.at_ms, "error": sample.error}
    if sample.error is None:
        found["rate"] = round(sample.rate, 1)
        found["records"] = sum(each.records for each in sample.topics.values())
        known = [each.size_bytes for each in sample.topics.values() if each.size_bytes is not None]
        found["bytes"] = sum(known) if known else None
    if has_topics:
        rows = {
            name: [
                each.records,
                None if each.rate is None else round(each.rate, 1),
                each.size_bytes,
                each.error,
                each.last_write_ms,
            ]
            for name, each in sample.topics.items()
        }
        changed = {name: row for name, row in rows.items() if shown.get(name) != row}
        gone = [] if sample.error else [name for name in shown if name not in rows]
        found["topics"] = {**changed, **dict.fromkeys(gone)}
        for name in gone:
            del shown[name]
        shown |= rows
    if sample.groups:
        found["groups"] = {
            name: {
                "lag": each.total,
                "is_partial": each.is_partial,
                "error": each.error,
                "offsets": [
                    [tp.topic, tp.partition, lag.committed, lag.end, lag.lag]
                    for tp, lag in each.partitions.items()
                ]
                if len(sample.groups) == 1
                else None,
            }
            for name, each in sample.groups.items()
        }
    return found


ENDPOINTS = (
    ApiEndpoint(
        "GET",
        f"{PREFIX}/events",
        Role.VIEWER,
        "Numbers as they change, as server-sent events",
        events,
        query={
            "topics": "1: numbers of each topic",
            "groups": "1: the lag of all groups",
            "group": "the lag of this group; may be repeated",
        },
    ),
)
