"""Numbers of a cluster that change all the time: sampled while somebody looks at them."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from moldau.client.admin.outcomes import Outcomes
from moldau.client.offset_lookup import EARLIEST, LATEST, FoundOffset
from moldau.console.cluster import ConsoleCluster
from moldau.console.group_lags import GroupLags
from moldau.console.lag import GroupLag
from moldau.console.last_writes import LastWrites
from moldau.console.log_sizes import LogSizes
from moldau.errors import KafkaError
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin

_log = logging.getLogger(__name__)

INTERVAL_S = 2.0
_SHARE_MAX = 0.1  # of the time, at most, is spent on asking: a large cluster is asked less often
_POINTS_MAX = 1800  # one hour
_SIZES_EVERY = 5
_PARTITIONS_AT_ONCE = 5000  # so that others have their turn while answers are read


@dataclass(slots=True)
class TopicNumbers:
    """How much a topic has, and how fast it grows."""

    records: int
    end: int
    """The sum of its partitions' ends, from which the rate is."""
    rate: float | None = None
    size_bytes: int | None = None
    error: str | None = None
    last_write_ms: int | None = None


@dataclass(slots=True)
class NumbersSample:
    """The numbers of one moment."""

    at_ms: int
    topics: dict[str, TopicNumbers] = field(default_factory=dict)
    groups: dict[str, GroupLag] = field(default_factory=dict)
    bytes_in: tuple[int, float] | None = None
    """How fast logs grow, and when that was found: less often than the rest."""
    error: str | None = None
    """Why there are none."""
    said: dict[tuple[object, ...], str] = field(default_factory=dict)
    """What was sent to tabs, by what they knew and want: most know and want the same."""

    @property
    def is_partial(self) -> bool:
        """Whether somebody did not answer, so that most of its time was spent on waiting."""
        return self.error is not None or any(
            each.error is not None for each in self.topics.values()
        )

    @property
    def rate(self) -> float:
        """Records per second that the cluster takes in."""
        return sum(each.rate or 0.0 for each in self.topics.values())


class Sampler:
    """Asks a cluster every two seconds, or less often if that takes long.

    Nobody is asked while nobody looks. Lists never wait for it: it only adds to them.
    """

    def __init__(self, cluster: ConsoleCluster) -> None:
        self.cluster = cluster
        self.sample = NumbersSample(0)
        self.history: deque[tuple[int, float]] = deque(maxlen=_POINTS_MAX)
        self.lags = GroupLags()
        self.sizes = LogSizes()
        self._last_writes = LastWrites()
        self._wanted: dict[object, frozenset[str] | None] = {}
        self._news = asyncio.Condition()
        self._watched = asyncio.Event()
        self._count = 0
        self._before: tuple[float, dict[str, int]] = (0.0, {})
        self.is_closed = False
        """Whether the console ends: then streams do as well."""

    @contextmanager
    def watching(self, groups: Iterable[str] | None = ()) -> Iterator[None]:
        """Somebody looks, at these groups as well; None stands for all."""
        mark = object()
        self._wanted[mark] = None if groups is None else frozenset(groups)
        self._watched.set()
        try:
            yield
        finally:
            del self._wanted[mark]
            if not self._wanted:
                self._watched.clear()

    @property
    def watchers(self) -> int:
        """How many look."""
        return len(self._wanted)

    async def next_sample(self, after_ms: int) -> NumbersSample | None:
        """The first sample later than this; None if there will be no more."""
        async with self._news:
            await self._news.wait_for(lambda: self.is_closed or self.sample.at_ms > after_ms)
        return None if self.is_closed else self.sample

    async def close(self) -> None:
        """Let those go who wait for another sample."""
        async with self._news:
            self.is_closed = True
            self._news.notify_all()

    async def run(self) -> None:
        """Go on until cancelled."""
        while True:
            await self._watched.wait()
            started_s = time.monotonic()
            await self.take()
            spent_s = time.monotonic() - started_s
            await asyncio.sleep(rest_s(spent_s, is_failed=self.sample.is_partial))

    async def take(self) -> None:
        """One sample; a cluster that does not answer makes one that says so."""
        at_ms = max(time.time_ns() // 1_000_000, self.sample.at_ms + 1)
        try:
            admin = await self.cluster.admin()
            topics = await self._topics(admin)
            bytes_in = self.sizes.history[-1] if self.sizes.history else None
            sample = NumbersSample(at_ms, topics, await self._groups(admin, at_ms), bytes_in)
            self.history.append((at_ms, round(sample.rate, 1)))
        except (KafkaError, TimeoutError, OSError) as error:
            _log.debug("no numbers of %s: %s", self.cluster.name, error)
            sample = NumbersSample(at_ms, error=str(error) or "the cluster did not answer in time")
        await self.publish(sample)

    async def publish(self, sample: NumbersSample) -> None:
        """Give a sample to all who look."""
        async with self._news:
            self.sample = sample
            self._news.notify_all()

    async def _topics(self, admin: "Admin") -> dict[str, TopicNumbers]:
        described = (await admin.describe_all_topics()).succeeded
        partitions = [
            TopicPartition(topic.name, each.partition)
            for topic in described.values()
            for each in topic.partitions
            if each.leader >= 0
        ]
        # Together, so that a broker that says nothing is waited for once.
        is_due = self._count % _SIZES_EVERY == 0
        self._count += 1
        first, last, _ = await asyncio.gather(
            _ends(admin, partitions, EARLIEST),
            _ends(admin, partitions, LATEST),
            self.sizes.update(admin, time.time_ns() // 1_000_000) if is_due else _nothing(),
        )
        known = self.sizes.topics
        now_s = time.monotonic()
        numbers = {name: TopicNumbers(0, 0, size_bytes=known.get(name)) for name in described}
        ends = last.succeeded
        for partition, begin in first.succeeded.items():
            if partition in ends:
                of_topic = numbers[partition.topic]
                of_topic.records += max(ends[partition].offset - begin.offset, 0)
                of_topic.end += ends[partition].offset
        for partition, error in (first.errors | last.errors).items():
            numbers[partition.topic].error = error.code.name
        self.add_rates(numbers, now_s)
        ends_of_topics = {name: each.end for name, each in numbers.items()}
        await self._last_writes.update(admin, ends_of_topics, partitions)
        for name, at_ms in self._last_writes.times_ms.items():
            numbers[name].last_write_ms = at_ms
        return numbers

    def add_rates(self, numbers: Mapping[str, TopicNumbers], now_s: float) -> None:
        """How fast topics grew since the sample before."""
        before_s, before = self._before
        for name, each in numbers.items():
            if name in before and each.error is None:
                each.rate = max(each.end - before[name], 0) / max(now_s - before_s, 0.001)
        # An end without some partitions would look like a burst when they are back.
        sound = {name: each.end for name, each in numbers.items() if each.error is None}
        self._before = (now_s, sound)

    async def _groups(self, admin: "Admin", at_ms: int) -> dict[str, GroupLag]:
        named = {name for each in self._wanted.values() for name in each or ()}
        has_all = any(each is None for each in self._wanted.values())
        return await self.lags.update(admin, named, has_all=has_all, at_ms=at_ms)


def rest_s(spent_s: float, *, is_failed: bool) -> float:
    """How long to wait for the next sample, after one that took so long.

    Who waits for a cluster that is away wants to see that it is back: to fail costs it nothing.
    """
    if is_failed:
        return INTERVAL_S
    return max(INTERVAL_S - spent_s, spent_s / _SHARE_MAX - spent_s)


async def _ends(
    admin: "Admin", partitions: Sequence[TopicPartition], at: int
) -> "Outcomes[TopicPartition, FoundOffset]":
    starts = range(0, len(partitions), _PARTITIONS_AT_ONCE)
    parts = [partitions[start : start + _PARTITIONS_AT_ONCE] for start in starts]
    found = await asyncio.gather(*(admin.list_offsets(dict.fromkeys(each, at)) for each in parts))
    return Outcomes(
        {key: one for each in found for key, one in (each.succeeded | each.errors).items()}
    )


async def _nothing() -> None:
    pass
