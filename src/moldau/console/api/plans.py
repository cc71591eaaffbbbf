"""Where a reset takes a group: the rules of kafka-consumer-groups.sh --reset-offsets."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from moldau.client.offset_lookup import EARLIEST, LATEST
from moldau.model import TopicPartition
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin
    from moldau.client.admin.group_offsets import CommittedOffset

TARGETS = ("earliest", "latest", "offset", "time", "shift", "duration")


@dataclass(frozen=True, slots=True)
class ResetPlan:
    """What is wanted; the number is an offset, a shift in records, or a time in milliseconds."""

    to: str
    number: int = 0
    topic: str | None = None

    async def offsets(
        self, admin: "Admin", committed: "Mapping[TopicPartition, CommittedOffset | None]"
    ) -> dict[TopicPartition, int]:
        """The new offsets, never outside of what there is."""
        firsts = await admin.list_offsets(dict.fromkeys(committed, EARLIEST))
        lasts = await admin.list_offsets(dict.fromkeys(committed, LATEST))
        first = {each: found.offset for each, found in firsts.items()}
        last = {each: found.offset for each, found in lasts.items()}
        if self.to == "earliest":
            return first
        if self.to == "latest":
            return last
        wanted: dict[TopicPartition, int]
        if self.to == "offset":
            wanted = dict.fromkeys(committed, self.number)
        elif self.to == "shift":
            wanted = {
                each: (last[each] if known is None else known.offset) + self.number
                for each, known in committed.items()
            }
        else:
            at_ms = self.number
            if self.to == "duration":
                at_ms = time.time_ns() // 1_000_000 - self.number
            times = await admin.list_offsets(dict.fromkeys(committed, max(at_ms, 0)))
            wanted = {
                each: last[each] if found.offset < 0 else found.offset
                for each, found in times.items()
            }
        return {each: min(max(at, first[each]), last[each]) for each, at in wanted.items()}


def read_plan(sent: Mapping[str, object]) -> ResetPlan:
    """The plan that a body asks for."""
    to, value, topic = sent.get("to"), sent.get("value"), sent.get("topic")
    if to not in TARGETS or not isinstance(to, str):
        raise WebError(400, f"to: one of {', '.join(TARGETS)}")
    if topic is not None and not isinstance(topic, str):
        raise WebError(400, "topic: the name of one topic")
    if to in ("earliest", "latest"):
        return ResetPlan(to, 0, topic or None)
    if to == "time" and isinstance(value, str) and not value.lstrip("-").isdigit():
        return ResetPlan(to, time_ms(value), topic or None)
    try:
        return ResetPlan(to, int(str(value)), topic or None)
    except ValueError:
        raise WebError(400, f"value: {to} needs a whole number") from None


def time_ms(text: str) -> int:
    """A time in ISO form, which has to name its zone: nobody guesses one."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise WebError(400, f"{text} is no time such as 2026-11-18T09:30:00+01:00") from None
    if at.tzinfo is None:
        raise WebError(400, f"{text} has no time zone: add Z for UTC, or +01:00")
    return int(at.timestamp() * 1000)
