"""Puts a connector's tasks together: connector, converters, clients."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.connect.config.values import listed, number
from moldau.connect.connector import Offset, Sink, Source, SourcePartition
from moldau.connect.worker.dead_letters import FailedRecord, queue_of
from moldau.connect.worker.pipeline import SinkPipeline, SourcePipeline
from moldau.connect.worker.plugins import Plugin
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.sink_work import SinkDuties, SinkWork
from moldau.connect.worker.source_work import SourceDuties, SourceWork, logs_failures, tolerates
from moldau.connect.worker.task import Work

_log = logging.getLogger(__name__)

Config = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TaskSurroundings:
    """What tasks of a connector tell, and ask, the worker."""

    settings: WorkerSettings
    offset_of: Callable[[SourcePartition], Offset | None]
    stored: Callable[[SourcePartition, Offset], None]
    used: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Assembly:
    """A connector with its settings, and what its tasks share out."""

    name: str
    plugin: Plugin
    config: Config
    shares: Sequence[Sequence[SourcePartition]]
    """What each task reads; a sink's have nothing here: their group shares the topics."""

    def task_configs(self) -> list[dict[str, str]]:
        """As the config topic keeps them."""
        return [{**self.config, "task.class": self.plugin.task_class} for _ in self.shares]

    def begin(self, task: int, around: TaskSurroundings) -> Work:
        """Make everything that a task needs; blocks."""
        connector = self.plugin.connector(self.config)
        try:
            if isinstance(connector, Source):
                return self._source(connector, task, around)
            return self._sink(connector, task, around)
        except BaseException:
            connector.close()
            raise

    def _source(self, source: Source, task: int, around: TaskSurroundings) -> Work:
        settings, config = around.settings, self.config
        pipeline = SourcePipeline(settings.properties, config)
        duties = SourceDuties(
            self.name,
            self.shares[task],
            config.get("offsets.storage.topic", settings.offset_topic),
            around.offset_of,
            around.stored,
            around.used,
            tolerates(config),
            lambda error: self._log_skipped(str(error)),
        )
        producer: Producer[bytes, bytes] = Producer(
            {
                "compression.type": "none",
                "max.block.ms": 60_000,
                **settings.client("producer.", config),
                "transactional.id": f"{settings.group_id}-{self.name}-{task}",
                "client.id": f"connector-producer-{self.name}-{task}",
            }
        )
        return SourceWork(source, pipeline, producer, duties)

    def _sink(self, sink: Sink, task: int, around: TaskSurroundings) -> Work:
        settings, config = around.settings, self.config
        pipeline = SinkPipeline(settings.properties, config)
        pattern = config.get("topics.regex")
        duties = SinkDuties(
            listed(config, "topics") if not pattern else re.compile(pattern),
            around.used,
            tolerates(config),
            queue_of(config, self.name, task),
            lambda: Producer(settings.client("producer.", config)),
            lambda failure: self._log_skipped(_described(failure)),
        )
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
        return SinkWork(sink, pipeline, consumer, duties)

    def _log_skipped(self, why: str) -> None:
        if logs_failures(self.config):
            _log.error("connector %s leaves a record out: %s", self.name, why)


def _described(failure: FailedRecord) -> str:
    raw = failure.record
    return f"{failure.error} ({failure.stage}, {raw.topic}-{raw.partition} at {raw.offset})"


def assemble(name: str, plugin: Plugin, config: Config) -> Assembly:
    """Ask a source what there is to read, and share it out; blocks."""
    tasks_max = number(config, "tasks.max", 1)
    shares: list[list[SourcePartition]] = [[] for _ in range(tasks_max)]
    if issubclass(plugin.connector, Source):
        source = plugin.connector(config)
        try:
            for index, partition in enumerate(source.partitions()):
                shares[index % tasks_max].append(partition)
        finally:
            source.close()
        shares = [each for each in shares if each]
    return Assembly(name, plugin, config, shares)
