"""The one stream of a tab: numbers as they change, as server-sent events.

Browsers keep six connections per host, so a tab has one stream for all that it shows. Its
address says what that is; when the page changes, the tab opens another.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from starlette.responses import StreamingResponse

from moldau.console.access import Role
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint, to_json
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from moldau.console.lag import GroupLag
    from moldau.console.sampling import NumbersSample, Sampler, TopicNumbers

_KEEP_ALIVE_S = 15.0
_STREAMS_MAX = 400
Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class WantedNumbers:
    """What a tab shows."""

    has_topics: bool = False
    groups: frozenset[str] | None = frozenset()
    """None stands for all."""


async def events(call: ApiCall) -> object:
    """Numbers of topics, and of groups if asked for, until the tab goes away."""
    sampler = call.console.samplers[call.cluster.name]
    if sampler.watchers >= _STREAMS_MAX:
        raise WebError(503, f"{_STREAMS_MAX} tabs look at {call.cluster.name}: close some")
    named = frozenset(call.request.query_params.getlist("group"))
    wanted = WantedNumbers(bool(call.text("topics")), None if call.text("groups") else named)
    return StreamingResponse(
        _stream(sampler, wanted),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _stream(sampler: "Sampler", wanted: WantedNumbers) -> AsyncIterator[str]:
    before: NumbersSample | None = None
    yield "retry: 2000\n\n"
    with sampler.watching(wanted.groups):
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
            yield numbers_event(sample, before, wanted)
            before = before if sample.error else sample


def numbers_event(
    sample: "NumbersSample", before: "NumbersSample | None", wanted: WantedNumbers
) -> str:
    """What a tab does not know yet, which is made once for all that know and want the same."""
    key = (0 if before is None else before.at_ms, wanted)
    if key not in sample.said:
        said = to_json(news(sample, before, wanted))
        sample.said[key] = f"event: numbers\ndata: {said}\n\n"
    return sample.said[key]


def news(
    sample: "NumbersSample", before: "NumbersSample | None", wanted: WantedNumbers
) -> dict[str, object]:
    """The numbers of a sample that are not those of the one before; null for what is gone."""
    found: dict[str, object] = {"at": sample.at_ms, "error": sample.error}
    if sample.error is not None:
        return found
    found["rate"] = round(sample.rate, 1)
    found["records"] = sum(each.records for each in sample.topics.values())
    known = [each.size_bytes for each in sample.topics.values() if each.size_bytes is not None]
    found["bytes"] = sum(known) if known else None
    found["bytes_in"] = sample.bytes_in
    if wanted.has_topics:
        found["topics"] = _changed(sample.topics, before.topics if before else {}, _topic_row)
    if wanted.groups is None:
        found["groups"] = _changed(sample.groups, before.groups if before else {}, _group_row)
    elif wanted.groups:
        lags = {name: sample.groups[name] for name in wanted.groups & sample.groups.keys()}
        found["groups"] = {name: _whole_group(each) for name, each in lags.items()}
    return found


def _changed(
    now: Mapping[str, Part], before: Mapping[str, Part], row: Callable[[Part], object]
) -> dict[str, object]:
    fresh = {name: row(each) for name, each in now.items() if each != before.get(name)}
    return {**fresh, **dict.fromkeys(before.keys() - now.keys())}


def _topic_row(topic: "TopicNumbers") -> object:
    rate = None if topic.rate is None else round(topic.rate, 1)
    return [topic.records, rate, topic.size_bytes, topic.error, topic.last_write_ms]


def _group_row(lag: "GroupLag") -> dict[str, object]:
    return {"lag": lag.total, "is_partial": lag.is_partial, "error": lag.error, "offsets": None}


def _whole_group(lag: "GroupLag") -> object:
    offsets = [
        [tp.topic, tp.partition, each.committed, each.end, each.lag]
        for tp, each in lag.partitions.items()
    ]
    return {**_group_row(lag), "offsets": offsets}


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
