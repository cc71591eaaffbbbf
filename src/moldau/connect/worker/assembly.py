"""Puts a connector's tasks together: connector, converters, clients."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.connect.config.values import listed, number
from moldau.connect.connector import (
    NeedsEngine,
    NeedsHome,
    Offset,
    ReaderLender,
    Sink,
    Source,
    SourcePartition,
    TakesReaders,
)
from moldau.connect.errors import ConfigError
from moldau.connect.storage.records import compact
from moldau.connect.worker.dead_letters import logs_failures, tolerates
from moldau.connect.worker.pipeline import SinkPipeline, SourcePipeline
from moldau.connect.worker.plugins import Plugin
from moldau.connect.worker.settings import SPARK, WorkerSettings, engine_of
from moldau.connect.worker.sink_work import SinkWork
from moldau.connect.worker.sink_writing import FailedRecords, SinkWriter
from moldau.connect.worker.source_work import (
    SourceDuties,
    SourceWork,
    committed_offsets,
    end_readers,
    offset_topic,
    transactional_producer,
)
from moldau.connect.worker.task import Work
from moldau.connect.worker.topic_creation import SourceTopics

_log = logging.getLogger(__name__)

Config = Mapping[str, str]


class Engine(Protocol):
    """Does the work of a connector's tasks elsewhere than in threads of the worker."""

    def begin(self, assembly: "Assembly", around: "TaskSurroundings") -> Work:
        """The work of all tasks of a connector, whose settings are resolved; blocks."""

    def readers(self, assembly: "Assembly", around: "TaskSurroundings") -> ReaderLender:
        """For a source that is read by a thread of the worker, and may share its work."""

    def close(self) -> None:
        """Give back everything."""


@dataclass(frozen=True, slots=True)
class TaskSurroundings:
    """What tasks of a connector report to the worker, and ask of it."""

    settings: WorkerSettings
    stored: Callable[[SourcePartition, Offset], None]
    used: Callable[[str], None]
    engine: Engine | None = None
    report: Callable[[int, Mapping[str, float]], None] = lambda *_: None
    """How many records were stored or written, and what a source measures."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """A connector with its settings, and what its tasks share out."""

    name: str
    plugin: Plugin
    config: Config = field(repr=False)
    shares: Sequence[Sequence[SourcePartition]]
    """What each task reads; a sink's have nothing here: their group shares the topics."""
    is_elsewhere: bool = False
    """Whether the worker's engine does the work."""
    partitions_interval_s: float | None = None
    """How often there may be other partitions."""

    def units(self) -> list[range]:
        """The tasks that come and go together, and share a thread: elsewhere that is all."""
        count = len(self.shares)
        if self.is_elsewhere:
            return [range(count)] if count else []
        return [range(number, number + 1) for number in range(count)]

    def task_configs(self) -> list[dict[str, str]]:
        """As the config topic keeps them."""
        return [{**self.config, "task.class": self.plugin.task_class} for _ in self.shares]

    def begin(self, task: int, around: TaskSurroundings) -> Work:
        """Make everything that a task needs, with values of providers as of now; blocks."""
        resolved = around.settings.providers.resolved(self.config)
        return replace(self, config=resolved)._begin(task, around)

    def _begin(self, task: int, around: TaskSurroundings) -> Work:
        if self.is_elsewhere:
            assert around.engine is not None, "assembled for it"
            return around.engine.begin(self, around)
        connector = self.plugin.connector(self.config)
        try:
            if isinstance(connector, NeedsEngine):
                connector.use_engine(around.engine)
            if isinstance(connector, NeedsHome):
                connector.use_home(around.settings.home(self.config))
            if isinstance(connector, TakesReaders):
                self._give_readers(connector, around)
            if isinstance(connector, Source):
                return self._source(connector, task, around)
            return self._sink(connector, task, around)
        except BaseException:
            connector.close()
            raise

    def _give_readers(self, connector: TakesReaders, around: TaskSurroundings) -> None:
        if around.engine is not None and engine_of(self.config, around.settings.engine) == SPARK:
            connector.use_readers(around.engine.readers(self, around))

    def _source(self, source: Source, task: int, around: TaskSurroundings) -> Work:
        settings, config = around.settings, self.config
        producer = transactional_producer(settings, self.name, config, task)
        try:
            return self._source_work(source, task, around, producer)
        except BaseException:
            producer.close()
            raise

    def _source_work(
        self,
        source: Source,
        task: int,
        around: TaskSurroundings,
        producer: Producer[bytes, bytes],
    ) -> SourceWork:
        """The producer has ended the writer before, so that offsets are decided."""
        settings, config = around.settings, self.config
        begun: dict[bytes, Offset] = {}
        stored = committed_offsets(settings, config, self.name)
        for partition, offset in end_readers(settings, self.name, config, stored):
            begun[compact(dict(partition))] = offset
            around.stored(partition, offset)
        duties = SourceDuties(
            self.name,
            self.shares[task],
            offset_topic(settings, config),
            lambda partition: begun.get(compact(dict(partition))),
            around.stored,
            around.used,
            tolerates(config),
            lambda error: self._log_skipped(str(error)) if logs_failures(config) else None,
            SourceTopics(settings, config).prepare,
            around.report,
        )
        pipeline = SourcePipeline(settings.properties, {**source.defaults, **config})
        work = SourceWork(source, pipeline, lambda: producer, duties)
        work.take_over()
        return work

    def _sink(self, sink: Sink, task: int, around: TaskSurroundings) -> Work:
        settings, config = around.settings, self.config
        failed = FailedRecords.of(settings, self.name, config, task, self._log_skipped)
        writer = SinkWriter(sink, SinkPipeline(settings.properties, config), failed)
        pattern = config.get("topics.regex")
        topics = listed(config, "topics") if not pattern else re.compile(pattern)
        consumer: Consumer[bytes, bytes] = Consumer(
            {
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                **settings.client("consumer.", config),
                "group.id": config.get("consumer.override.group.id", f"connect-{self.name}"),
                "client.id": f"connector-consumer-{self.name}-{task}",
                "enable.auto.commit": False,
            }
        )
        return SinkWork(writer, consumer, topics, around.used, lambda n: around.report(n, {}))

    def _log_skipped(self, why: str) -> None:
        _log.error("connector %s leaves a record out: %s", self.name, why)


def assemble(
    name: str, plugin: Plugin, config: Config, settings: WorkerSettings | None = None
) -> Assembly:
    """Ask a source what there is to read, and share it out; blocks."""
    settings = settings or WorkerSettings({})
    resolved = settings.providers.resolved(config)
    tasks_max = number(resolved, "tasks.max", 1)
    shares: list[list[SourcePartition]] = [[] for _ in range(tasks_max)]
    runs_anywhere = plugin.connector.runs_anywhere
    interval_s: float | None = None
    if issubclass(plugin.connector, Source):
        source = plugin.connector(resolved)
        runs_anywhere, interval_s = source.runs_anywhere, source.partitions_interval_s
        try:
            if isinstance(source, NeedsHome):
                source.use_home(settings.home(resolved))
            for index, partition in enumerate(source.partitions()):
                shares[index % tasks_max].append(partition)
        finally:
            source.close()
        shares = [each for each in shares if each]
    wanted = engine_of(resolved, settings.engine)
    if wanted == SPARK != settings.engine:
        raise ConfigError("engine: spark needs a worker whose own settings say engine=spark")
    is_elsewhere = runs_anywhere and wanted == SPARK
    return Assembly(name, plugin, config, shares, is_elsewhere, interval_s)
