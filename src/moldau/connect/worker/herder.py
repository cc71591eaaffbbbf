"""Runs connectors so that they are what the topics say they should be.

What changes the state (`operations.py`) asks for a connector to be brought into line; that
happens in a coroutine of its own for each, so that none waits for another.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from moldau.connect.connector import Offset, SourcePartition
from moldau.connect.errors import ConnectError
from moldau.connect.storage.cluster_state import PAUSED, STOPPED, ClusterState
from moldau.connect.storage.records import (
    KeyedValue,
    Status,
    active_topic,
    compact,
    connector_status,
    task_commit,
    task_config,
    task_status,
)
from moldau.connect.storage.topics import StateWriter
from moldau.connect.worker.assembly import Assembly, Engine, TaskSurroundings, assemble
from moldau.connect.worker.figures import ConnectorFigures
from moldau.connect.worker.plugins import Plugins
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.task import FAILED, RESTARTING, RUNNING, Task, TaskReport, trace_of
from moldau.errors import KafkaError

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class RunningConnector:
    """A connector as it is now."""

    config: Mapping[str, str] = field(repr=False)
    status: Status
    kind: str = "unknown"
    assembly: Assembly | None = None
    tasks: dict[int, Task] = field(default_factory=dict)
    """By the first number of those that share a thread."""
    task_statuses: dict[int, Status] = field(default_factory=dict)
    failures: int = 0
    """How often in a row it could not be started."""
    figures: ConnectorFigures = field(default_factory=ConnectorFigures)
    later: asyncio.Task[None] | None = None
    """Begins it anew: after a while, or once there are other partitions."""


@dataclass(slots=True)
class _Asked:
    """What is to be begun anew, beside what the topics say."""

    connector: bool = False
    anew: bool = False
    """With what there is to read now."""
    tasks: set[int] = field(default_factory=set)


class Herder:
    """Owns all connectors of this process; lives in one event loop."""

    def __init__(
        self,
        settings: WorkerSettings,
        plugins: Plugins,
        state: ClusterState,
        engine: Engine | None = None,
    ) -> None:
        self.settings = settings
        self.plugins = plugins
        self.state = state
        self._engine = engine
        self.writer = StateWriter(settings)
        self.running: dict[str, RunningConnector] = {}
        self._asked: dict[str, _Asked] = {}
        self._working: dict[str, asyncio.Task[None]] = {}
        self._news: asyncio.Queue[KeyedValue] = asyncio.Queue()
        self._group: asyncio.TaskGroup | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def worker_id(self) -> str:
        """Host and port of the REST interface, by which Connect names workers."""
        return self.settings.worker_id

    async def run(self, stop: asyncio.Event) -> None:
        """Run connectors until asked to stop; the writer has taken over before."""
        self._loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            self._group = group
            writing = group.create_task(self._write_news())
            for name in self.state.configs:
                self.align(name)
            await stop.wait()
            self._group = None
            await asyncio.gather(*self._working.values(), return_exceptions=True)
            await asyncio.gather(*(self._stop_tasks(each) for each in self.running.values()))
            writing.cancel()
            for each in self.running.values():
                _cancel(each.later)

    def restart(self, name: str, *, connector: bool, tasks: frozenset[int]) -> None:
        """Begin a connector, or some of its tasks, anew."""
        running = self.running[name]
        if connector:
            self._set_status(name, running, Status(RESTARTING, self.worker_id))
        for number in tasks & set(running.task_statuses):
            running.task_statuses[number] = Status(RESTARTING, self.worker_id)
        self.align(name, connector=connector, tasks=tasks)

    def align(
        self, name: str, *, connector: bool = False, tasks: frozenset[int] = frozenset()
    ) -> None:
        """Bring a connector into line with the state, and begin what is named anew."""
        asked = self._asked.setdefault(name, _Asked())
        asked.connector |= connector
        asked.tasks |= tasks
        if name not in self._working and self._group is not None:
            self._working[name] = self._group.create_task(self._align(name))

    async def settled(self, name: str) -> None:
        """Return when nothing is left to be done for a connector."""
        while name in self._working:
            await asyncio.wait([self._working[name]])

    async def _align(self, name: str) -> None:
        try:
            while (asked := self._asked.pop(name, None)) is not None:
                await self._align_once(name, asked)
        finally:
            del self._working[name]

    async def _align_once(self, name: str, asked: _Asked) -> None:
        config = self.state.configs.get(name)
        target = self.state.targets.get(name, "STARTED")
        running = self.running.get(name)
        if config is None:
            if running is not None:
                await self._forget(name, running)
            return
        is_new = running is None or running.config != config
        # Without an assembly it was stopped, or has failed to start.
        is_idle = running is not None and running.assembly is None
        stops = running is not None and (target == STOPPED) != (running.status.state == STOPPED)
        if is_new or stops or asked.anew or (asked.connector and is_idle):
            await self._begin(name, config, target)
            return
        assert running is not None, "it is not new"
        state = PAUSED if target == PAUSED else RUNNING
        if running.assembly is not None and running.status.state != state:
            self._set_status(name, running, Status(state, self.worker_id))
        for task in running.tasks.values():
            task.pause(paused=target == PAUSED)
        if asked.tasks:
            await self._restart_tasks(name, running, asked.tasks, paused=target == PAUSED)

    async def _begin(self, name: str, config: Mapping[str, str], target: str) -> None:
        old = self.running.get(name)
        _cancel(None if old is None else old.later)
        if old is not None and not await self._stop_tasks(old):
            text = "a task has not ended in time; restart the connector when it has"
            self._set_status(name, old, Status(FAILED, self.worker_id, text))
            return
        kind = old.kind if old is not None else "unknown"
        running = RunningConnector(config, Status(RESTARTING, self.worker_id), kind)
        if old is not None:
            running.figures = old.figures
            running.failures = old.failures if old.config == config else 0
        self.running[name] = running
        try:
            plugin = self.plugins.find(config.get("connector.class", ""))
            running.kind = plugin.kind
            if target == STOPPED:
                await self._set_tasks(name, [])
                self._forget_tasks(name, old)
                self._set_status(name, running, Status(STOPPED, self.worker_id))
                return
            make = partial(assemble, name, plugin, config, self.settings)
            running.assembly = await asyncio.to_thread(make)
            await self._set_tasks(name, running.assembly.task_configs())
        except (ConnectError, KafkaError, OSError) as error:
            self._not_begun(name, running, error)
            return
        running.failures = 0
        state = PAUSED if target == PAUSED else RUNNING
        self._set_status(name, running, Status(state, self.worker_id))
        for unit in running.assembly.units():
            self._start_unit(name, running, unit, paused=target == PAUSED)
        interval_s = running.assembly.partitions_interval_s
        if interval_s is not None and self._group is not None:
            running.later = self._group.create_task(self._watch(name, running, make, interval_s))

    def _not_begun(self, name: str, running: RunningConnector, error: Exception) -> None:
        """Try again later if that may help."""
        hide, restarts = self.settings.providers.hide, self.settings.restarts(running.config)
        text, wait_s = hide(trace_of(error)), restarts.wait_s(error, running.failures)
        if wait_s is None or self._group is None:
            _log.error("connector %s cannot be started: %s", name, hide(str(error)))
            self._set_status(name, running, Status(FAILED, self.worker_id, text))
            return
        running.failures += 1
        head = restarts.described(running.failures, wait_s)
        _log.warning("connector %s cannot be started, %s: %s", name, head, hide(str(error)))
        status = Status(RESTARTING, self.worker_id, f"{head}: {text}")
        self._set_status(name, running, status)
        running.later = self._group.create_task(self._begin_later(name, wait_s))

    async def _begin_later(self, name: str, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        self._begin_anew(name)

    def _begin_anew(self, name: str) -> None:
        self._asked.setdefault(name, _Asked()).anew = True
        self.align(name)

    async def _watch(
        self,
        name: str,
        running: RunningConnector,
        make: Callable[[], Assembly],
        interval_s: float,
    ) -> None:
        """Begin the tasks anew once there is something else to read."""
        assert running.assembly is not None, "it was assembled before"
        while True:
            await asyncio.sleep(interval_s)
            if running.status.state != RUNNING:
                continue
            try:
                found = await asyncio.to_thread(make)
            except (ConnectError, KafkaError, OSError) as error:
                text = self.settings.providers.hide(str(error))
                _log.warning("partitions of connector %s are not known: %s", name, text)
                continue
            if found.shares != running.assembly.shares:
                _log.info("connector %s has other partitions, its tasks begin anew", name)
                self._begin_anew(name)
                return

    async def _set_tasks(self, name: str, configs: list[dict[str, str]]) -> None:
        if self.state.tasks.get(name, []) == configs:
            return
        records = [task_config(name, number, each) for number, each in enumerate(configs)]
        await self.writer.write_configs([*records, task_commit(name, len(configs))])
        self.state.tasks[name] = configs

    def _start_unit(
        self, name: str, running: RunningConnector, unit: range, *, paused: bool
    ) -> None:
        assembly, loop = running.assembly, self._loop
        assert assembly is not None, "it was assembled before"
        assert loop is not None, "the herder runs"
        around = TaskSurroundings(
            self.settings,
            lambda partition, offset: self._stored(name, partition, offset),
            lambda topic: _soon(loop, self._use, name, topic, unit.start),
            self._engine,
            partial(running.figures.add, unit.start),
        )
        task = Task(
            name,
            unit.start,
            lambda: assembly.begin(unit.start, around),
            lambda report: _soon(loop, self._reported, (name, unit), task, report),
            restarts=self.settings.restarts(running.config),
            hide=self.settings.providers.hide,
        )
        running.tasks[unit.start] = task
        for number in unit:
            running.task_statuses.setdefault(number, Status("UNASSIGNED", self.worker_id))
        task.start(paused=paused)

    async def _restart_tasks(
        self, name: str, running: RunningConnector, numbers: set[int], *, paused: bool
    ) -> None:
        for unit in running.assembly.units() if running.assembly is not None else ():
            task = running.tasks.get(unit.start)
            if task is None or numbers.isdisjoint(unit):
                continue
            task.ask_to_stop()
            if await asyncio.to_thread(task.join, self.settings.shutdown_s):
                self._start_unit(name, running, unit, paused=paused)

    async def _stop_tasks(self, running: RunningConnector) -> bool:
        """Whether all have ended in time."""
        for task in running.tasks.values():
            task.ask_to_stop()
        ended = [
            await asyncio.to_thread(task.join, self.settings.shutdown_s)
            for task in running.tasks.values()
        ]
        if all(ended):
            running.tasks.clear()
        return all(ended)

    async def _forget(self, name: str, running: RunningConnector) -> None:
        _cancel(running.later)
        await self._stop_tasks(running)
        del self.running[name]
        self._forget_tasks(name, running)
        self._news.put_nowait(connector_status(name, None))
        for topic in self.state.topics.pop(name, set()):
            self._news.put_nowait(active_topic(name, topic, 0, None))

    def _forget_tasks(self, name: str, running: RunningConnector | None) -> None:
        for number in running.task_statuses if running is not None else ():
            self._news.put_nowait(task_status(name, number, None))

    # What tasks report

    def _reported(self, whose: tuple[str, range], task: Task, report: TaskReport) -> None:
        name, unit = whose
        running = self.running.get(name)
        if running is None or running.tasks.get(unit.start) is not task:
            return  # of a task that was replaced
        status = Status(report.state, self.worker_id, report.trace)
        running.figures.failures += report.state in (RESTARTING, FAILED)
        for number in unit:
            running.task_statuses[number] = status
            self._news.put_nowait(task_status(name, number, status))

    def _stored(self, name: str, partition: SourcePartition, offset: Offset) -> None:
        # From a task's thread; nobody else writes the offsets of this partition.
        known = self.state.offsets.setdefault(name, {})
        known[compact(dict(partition))] = dict(offset)

    def _use(self, name: str, topic: str, task: int) -> None:
        known = self.state.topics.setdefault(name, set())
        if self.settings.tracks_topics and topic not in known:
            known.add(topic)
            self._news.put_nowait(active_topic(name, topic, task, int(time.time() * 1000)))

    def forget_topics(self, name: str) -> None:
        """Begin to note anew which topics a connector uses."""
        for topic in self.state.topics.pop(name, set()):
            self._news.put_nowait(active_topic(name, topic, 0, None))

    def _set_status(self, name: str, running: RunningConnector, status: Status) -> None:
        running.status = status
        self._news.put_nowait(connector_status(name, status))

    async def _write_news(self) -> None:
        """Write states down; what cannot be written now is news no longer."""
        while True:
            records = [await self._news.get()]
            while not self._news.empty():
                records.append(self._news.get_nowait())
            try:
                await self.writer.write_statuses(records)
            except KafkaError as error:
                _log.warning("states of connectors could not be stored: %s", error)


def _cancel(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        task.cancel()


def _soon(loop: asyncio.AbstractEventLoop, call: object, *arguments: object) -> None:
    """Have the herder's loop call something; a loop that has ended needs no news."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(call, *arguments)  # type: ignore[arg-type]
