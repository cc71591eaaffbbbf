"""Where reading begins and ends, by kcat's -o."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from moldau.cli.terminal.failure import CommandFailed
from moldau.client.consumer.consumer import Consumer
from moldau.model import TopicPartition

_NUMBER = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True)
class Bounds:
    """An offset, a count from the end, or a time; a time may end it too."""

    start: str = "beginning"
    start_ms: int | None = None
    end_ms: int | None = None


def parse_bounds(texts: Iterable[str]) -> Bounds:
    """beginning, end, stored, a number, -number, s@milliseconds, e@milliseconds."""
    start, times = "beginning", {"s": None, "e": None}
    found: dict[str, int | None] = dict(times)
    for text in texts:
        if text[:2] in ("s@", "e@") and text[2:].isdigit():
            found[text[0]] = int(text[2:])
        elif text in ("beginning", "end", "stored") or _NUMBER.fullmatch(text):
            start = text
        else:
            raise CommandFailed(f"-o {text}: beginning, end, stored, a number, s@ms or e@ms")
    return Bounds(start, found["s"], found["e"])


async def seek_all(
    consumer: Consumer[bytes, bytes], partitions: Sequence[TopicPartition], bounds: Bounds
) -> dict[TopicPartition, int]:
    """Go where the bounds begin; returns where they end now."""
    ends = await consumer.end_offsets(partitions)
    starts = await consumer.beginning_offsets(partitions)
    if bounds.start_ms is not None:
        found = await consumer.offsets_for_times(dict.fromkeys(partitions, bounds.start_ms))
        wanted = {each: ends[each] if at is None else at.offset for each, at in found.items()}
    elif bounds.start == "end":
        wanted = ends
    elif bounds.start.startswith("-"):
        wanted = {each: ends[each] + int(bounds.start) for each in partitions}
    elif bounds.start.isdigit():
        wanted = dict.fromkeys(partitions, int(bounds.start))
    else:
        wanted = starts
    for each in partitions:
        consumer.seek(each, max(wanted[each], starts[each]))
    if bounds.end_ms is not None:
        last = await consumer.offsets_for_times(dict.fromkeys(partitions, bounds.end_ms))
        ends = {each: ends[each] if at is None else at.offset for each, at in last.items()}
    return ends
