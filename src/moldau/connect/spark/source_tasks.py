"""What a task of Spark does for a source: reads its partitions on, as a worker would."""

import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark import TaskContext

from moldau.client.blocking.producer import Producer
from moldau.connect.connector import Offset, Source, SourcePartition
from moldau.connect.spark.failures import as_text
from moldau.connect.storage.records import compact
from moldau.connect.worker.dead_letters import logs_failures, tolerates
from moldau.connect.worker.pipeline import SourcePipeline
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.source_work import (
    SourceDuties,
    SourceWork,
    committed_offsets,
    offset_topic,
    transactional_producer,
)
from moldau.connect.worker.topic_creation import SourceTopics
from moldau.spark.worker import settle

ROUND_S = 5.0
"""So long a task reads on where there is more: then others have their turn."""
SKIPPED_MAX = 100


class RepeatedRound(Exception):
    """A task was started again; its first attempt may have stored more than it could say."""


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """What every task of a source needs to know."""

    name: str
    connector: type[Source]
    config: Mapping[str, str] = field(repr=False)
    settings: WorkerSettings = field(repr=False)
    looks_up: bool = False
    """Whether a task looks up how far it is, once it has ended all others with its number: then
    nothing comes twice, whatever becomes of a task that Spark believes to be gone."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one task reads on, and from where."""

    task: int
    places: Sequence[tuple[SourcePartition, Offset | None]]


@dataclass(slots=True)
class RoundReport:
    """How far a task came."""

    stored: list[tuple[SourcePartition, Offset]] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failure: str | None = None

    def skip(self, why: str) -> None:
        """Note a record that was left out; of many, some."""
        if len(self.skipped) < SKIPPED_MAX:
            self.skipped.append(why)


def read_round(share: Share, plan: SourcePlan) -> RoundReport:
    """Read until there is nothing new, or the time is up; an error is part of the report."""
    settle()
    found = RoundReport()
    try:
        check_first(TaskContext.get())
        _read(share, plan, found)
    except RepeatedRound:
        raise
    except Exception as error:  # noqa: BLE001 - the top frame of a task
        found.failure = as_text(error)
    return found


def check_first(task: TaskContext | None) -> None:
    """RepeatedRound for a second attempt, or a copy: the worker has to look what is stored."""
    if task is not None and task.attemptNumber() > 0:
        raise RepeatedRound(
            f"attempt {task.attemptNumber()} of task {task.partitionId()} in stage "
            f"{task.stageId()} reads nothing: the connector is begun anew; why the first "
            "attempt ended, Spark's log says at 'Lost task' of this stage"
        )


def _read(share: Share, plan: SourcePlan, found: RoundReport) -> None:
    settings, config = plan.settings, plan.config
    begun = {compact(dict(partition)): offset for partition, offset in share.places}
    producer = None
    if plan.looks_up:
        producer = transactional_producer(settings, plan.name, config, share.task)
    try:
        if plan.looks_up:
            begun |= _looked_up(plan, begun)
        work = _work(share, plan, begun, found, producer)
    except BaseException:
        if producer is not None:
            producer.close()
        raise
    try:
        end_s = time.monotonic() + ROUND_S
        while work.step() and time.monotonic() < end_s:
            pass
    finally:
        work.close()


def _looked_up(plan: SourcePlan, asked: Container[bytes]) -> dict[bytes, Offset | None]:
    stored = committed_offsets(plan.settings, plan.config, plan.name)
    found = {compact(dict(partition)): offset for partition, offset in stored}
    return {key: offset for key, offset in found.items() if key in asked}


def _work(
    share: Share,
    plan: SourcePlan,
    begun: Mapping[bytes, Offset | None],
    found: RoundReport,
    producer: Producer[bytes, bytes] | None,
) -> SourceWork:
    settings, config = plan.settings, plan.config
    logs = logs_failures(config)
    duties = SourceDuties(
        plan.name,
        [partition for partition, _ in share.places],
        offset_topic(settings, config),
        lambda partition: begun[compact(dict(partition))],
        lambda partition, offset: found.stored.append((partition, offset)),
        found.used.append,
        tolerates(config),
        lambda error: found.skip(str(error)) if logs else None,
        SourceTopics(settings, config).prepare,
    )
    source = plan.connector(config)
    try:
        pipeline = SourcePipeline(settings.properties, config)
        work = SourceWork(
            source,
            pipeline,
            lambda: producer or transactional_producer(settings, plan.name, config, share.task),
            duties,
        )
        if producer is not None:
            work.take_over()
    except BaseException:
        source.close()
        raise
    return work
