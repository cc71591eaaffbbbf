"""Runs a connector once, to the end of what there is, without a worker around it.

The same connectors, converters, offsets and transactions as in a worker: a source goes on where
its last run ended, by the offsets topic, and a sink by its group.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import pyarrow as pa

from moldau.client.admin.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.connect.config.values import listed
from moldau.connect.connector import Sink, Source
from moldau.connect.errors import ConfigError
from moldau.connect.storage.topics import create_topic
from moldau.connect.worker.assembly import Config, TaskSurroundings, assemble
from moldau.connect.worker.plugins import Plugin
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.source_work import SourceWork
from moldau.connect.worker.task import Work
from moldau.errors import UnknownTopicOrPartition
from moldau.model import TopicPartition

_PROBE_S = 1.0
_SINK_TRIES = 240
"""How often in a row a sink may find nothing, half a second each, until that is an error."""


@dataclass(slots=True)
class Run:
    """How far it is, and whether it is to end."""

    started: Callable[[int | None], None] = field(default=lambda _: None)
    """Is called with how many records there are, about, if that is known."""
    count: Callable[[int], None] = field(default=lambda _: None)
    """Is called with how many records a source has read, or a sink has written."""
    follows: bool = False
    """Whether to go on when there is nothing more."""
    stop: threading.Event = field(default_factory=threading.Event)
    records: int = 0
    ends: bool = False
    """Set for a sink that is to store what it holds back."""

    def add(self, records: int) -> None:
        """Note that so many were carried."""
        self.records += records
        self.count(records)


@dataclass(frozen=True)
class _CountedPlugin(Plugin):
    """A sink that notes what passes."""

    run: Run

    @cached_property
    def connector(self) -> type[Source] | type[Sink]:
        """A subclass of the connector's own class."""
        found = super().connector
        assert issubclass(found, Sink), "sources report what they have stored"
        return _counted_sink(found, self.run)


def _counted_sink(connector: type[Sink], run: Run) -> type[Sink]:
    class Counted(connector):  # type: ignore[misc, valid-type]  # an argument
        def write(self, table: pa.Table, batch_id: int) -> None:
            super().write(table, batch_id)
            run.add(table.num_rows)

        def settle(self, *, ends: bool = False) -> bool:
            stored: bool = super().settle(ends=ends or run.ends)
            return stored

    return Counted


def run_once(settings: WorkerSettings, name: str, plugin: Plugin, config: Config, run: Run) -> None:
    """Carry everything that there is; blocks, and ends early when it is asked to."""
    is_source = issubclass(plugin.connector, Source)
    if not is_source:
        plugin = _CountedPlugin(plugin.name, plugin.place, run)
    around = TaskSurroundings(
        settings,
        lambda _partition, _offset: None,
        lambda _topic: None,
        report=lambda count, _: run.add(count) if is_source else None,
    )
    assembly = assemble(name, plugin, {**config, "tasks.max": "1"}, settings)
    if not assembly.shares:
        return
    if is_source:
        asyncio.run(_make_offset_topic(settings))
        run.started(None)
        with closing(assembly.begin(0, around)) as work:
            assert isinstance(work, SourceWork), "of a source, in this process"
            _read_all(work, run)
        return
    with SinkGroup(settings, name, config) as group:
        left = group.remaining()
        run.started(left)
        if left or run.follows:
            with closing(assembly.begin(0, around)) as work:
                _write_all(work, run, group)


def _read_all(work: SourceWork, run: Run) -> None:
    while not run.stop.is_set():
        if not work.step():
            if not run.follows and not work.is_behind():
                return
            run.stop.wait(work.idle_s())


def _write_all(work: Work, run: Run, group: "SinkGroup") -> None:
    """The end is where the topics ended when it began."""
    tries = 0
    while not run.stop.is_set():
        before = run.records
        work.step()
        if run.follows or run.records > before:
            tries = 0
            continue
        run.ends = True
        if not group.remaining():
            return
        tries += 1
        if tries > _SINK_TRIES:
            raise ConfigError(
                f"group {group.name} gets no records: does another run of the same command go on?"
            )


class SinkGroup:
    """How far the group of a sink is from the ends of its topics."""

    def __init__(self, settings: WorkerSettings, name: str, config: Config) -> None:
        self.name = f"connect-{name}"
        self._topics = listed(config, "topics")
        client: dict[str, object] = {
            **settings.client("consumer.", config),
            "group.id": self.name,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "allow.auto.create.topics": "false",
        }
        self._consumer: Consumer[bytes, bytes] = Consumer(client)
        self._ends: Mapping[TopicPartition, int] = {}

    def __enter__(self) -> Self:
        try:
            partitions = [
                each for topic in self._topics for each in self._consumer.partitions_of(topic)
            ]
            self._ends = self._consumer.end_offsets(partitions)
        except UnknownTopicOrPartition as error:
            self._consumer.close()
            raise ConfigError(f"there is no topic {', '.join(self._topics)}") from error
        except BaseException:
            self._consumer.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def remaining(self) -> int:
        """How many offsets are before the ends; markers of transactions do not count."""
        committed = self._consumer.committed(self._ends)
        begins = self._consumer.beginning_offsets(self._ends)
        left = {
            place: max(committed.get(place, 0), begins[place])
            for place, end in self._ends.items()
            if max(committed.get(place, 0), begins[place]) < end
        }
        if left and not self._has_records(left):
            return 0
        return sum(self._ends[place] - offset for place, offset in left.items())

    def _has_records(self, left: Mapping[TopicPartition, int]) -> bool:
        self._consumer.assign(left)
        while any(self._consumer.position(each) < self._ends[each] for each in left):
            for each in self._consumer.poll(_PROBE_S):
                if each.offset < self._ends[TopicPartition(each.topic, each.partition)]:
                    return True
        return False


async def _make_offset_topic(settings: WorkerSettings) -> None:
    async with Admin(settings.client("admin.")) as admin:
        brokers = len((await admin.describe_cluster()).brokers)
        topic = next(each for each in settings.topics() if each.name == settings.offset_topic)
        await create_topic(admin, topic, brokers)
