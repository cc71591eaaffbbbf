"""A polled source as jobs of Spark: a task for each share of its partitions, round by round.

A task puts records and their offset into one transaction, as a task of the worker does, under
the same transactional id. The offsets topic decides where the source goes on: it is read when
the work begins, after every task that may still write has been ended.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol

from pyspark.sql import SparkSession

from moldau.connect.config.providers import ConfigProviders
from moldau.connect.connector import Offset, Source, SourcePartition
from moldau.connect.errors import ConnectError
from moldau.connect.spark.failures import from_text
from moldau.connect.spark.sink_settings import interval_ms
from moldau.connect.spark.source_tasks import RoundReport, Share, SourcePlan, read_round
from moldau.connect.storage.records import compact
from moldau.connect.worker.assembly import Assembly, TaskSurroundings
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.source_work import committed_offsets, transactional_producer
from moldau.spark.queries import FAILURES, why_failed

_log = logging.getLogger(__name__)


class SessionLender(Protocol):
    """Lends the session."""

    def session(self, name: str) -> AbstractContextManager[SparkSession]:
        """The session for jobs of a connector."""


class SourceRounds:
    """The work of tasks of a source."""

    def __init__(
        self,
        sessions: SessionLender,
        plan: SourcePlan,
        shares: Mapping[int, Sequence[SourcePartition]],
        around: TaskSurroundings,
    ) -> None:
        """`shares` is what each task reads, by its number."""
        self._sessions = sessions
        self._plan = plan
        self._shares = shares
        self._around = around
        self._used: set[str] = set()
        self._idle_s = max(_poll_interval_s(self._plan), self._interval_s())
        self._offsets = self._taken_over()

    def step(self) -> bool:
        """One round; whether there was anything to read."""
        shares = [
            Share(task, [(each, self._offsets.get(_key(each))) for each in partitions])
            for task, partitions in self._shares.items()
        ]
        reports = self._reports(shares)
        for report in reports:
            self._take(report)
        failures = [each.failure for each in reports if each.failure is not None]
        if failures:
            raise from_text(failures[0])
        return any(each.stored for each in reports)

    def idle_s(self) -> float:
        """As the connector wants it, but no more rounds than a worker of many can do."""
        return self._idle_s

    def rest(self) -> None:
        """Nothing is under way between rounds."""

    def close(self) -> None:
        """Each task has closed what it had opened."""

    def _interval_s(self) -> float:
        return interval_ms(self._around.settings, self._plan.config) / 1000

    def _taken_over(self) -> dict[bytes, Offset]:
        """End the writer before, then see how far that was."""
        settings, name, config = self._around.settings, self._plan.name, self._plan.config
        for task in self._shares:
            transactional_producer(settings, name, config, task).close()
        found: dict[bytes, Offset] = {}
        for partition, offset in committed_offsets(settings, config, name):
            found[_key(partition)] = offset
            self._around.stored(partition, offset)
        return found

    def _reports(self, shares: list[Share]) -> list[RoundReport]:
        plan = self._plan

        def read(share: Share) -> RoundReport:
            return read_round(share, plan)

        try:
            with self._sessions.session(plan.name) as spark:
                context = spark.sparkContext
            return context.parallelize(shares, len(shares)).map(read).collect()
        except FAILURES as error:
            raise ConnectError(why_failed(error)) from None

    def _take(self, report: RoundReport) -> None:
        for partition, offset in report.stored:
            self._offsets[_key(partition)] = offset
            self._around.stored(partition, offset)
        for topic in set(report.used) - self._used:
            self._used.add(topic)
            self._around.used(topic)
        for why in report.skipped:
            _log.error("connector %s leaves a record out: %s", self._plan.name, why)


def rounds_of(
    sessions: SessionLender, assembly: Assembly, around: TaskSurroundings
) -> SourceRounds:
    """The work of all tasks of a source."""
    connector = assembly.plugin.connector
    assert issubclass(connector, Source), "sinks are queries"
    plan = SourcePlan(
        assembly.name, connector, dict(assembly.config), for_executors(around.settings)
    )
    return SourceRounds(sessions, plan, dict(enumerate(assembly.shares)), around)


def for_executors(settings: WorkerSettings) -> WorkerSettings:
    """They have no use for providers: values are in their places already."""
    return replace(settings, providers=ConfigProviders())


def _key(partition: SourcePartition) -> bytes:
    return compact(dict(partition))


def _poll_interval_s(plan: SourcePlan) -> float:
    source = plan.connector(plan.config)
    try:
        return source.poll_interval_s
    finally:
        source.close()
