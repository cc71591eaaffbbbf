"""A worker with everything that belongs to it: REST, its turn to lead, its connectors.

Workers of one group share the only partition of the config topic as a group of consumers: the
one that has it runs all connectors, the others stand by. A group of Java's workers speaks
another protocol, so that joining it fails, and nothing runs twice.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from moldau.client.consumer.consumer import Consumer
from moldau.connect.errors import ConfigError, ConnectError
from moldau.connect.rest.app import StandByApp, connect_app
from moldau.connect.rest.handlers import ConnectHandlers
from moldau.connect.storage.cluster_state import STARTED
from moldau.connect.storage.topics import prepare_topics, read_state
from moldau.connect.worker.herder import Herder
from moldau.connect.worker.operations import Operations
from moldau.connect.worker.other_groups import warn_of_other_groups
from moldau.connect.worker.plugins import Plugins
from moldau.connect.worker.settings import SPARK, WorkerSettings
from moldau.errors import InconsistentGroupProtocol, RetriableError
from moldau.web.errors import WebError
from moldau.web.server import Binding, serving

if TYPE_CHECKING:
    from moldau.connect.worker.assembly import Engine
    from moldau.model import TopicPartition
    from moldau.web.users import Users

_log = logging.getLogger(__name__)

_POLL_S = 1.0


class Worker:
    """Leads while it has the config topic's partition."""

    def __init__(self, settings: WorkerSettings, opening: StandByApp) -> None:
        self.settings = settings
        self.herder: Herder | None = None
        self._opening = opening
        self._has_turn = asyncio.Event()
        self._lost_turn = asyncio.Event()
        self._cluster_id = ""
        self.leads = asyncio.Event()
        """Set while connectors run here."""
        self._rests = asyncio.Event()
        self._rests.set()
        self.users: Users | None = None
        self.plugins = Plugins()

    async def run(self) -> None:
        """Stand by and lead until cancelled."""
        self._cluster_id = await prepare_topics(self.settings)
        self._opening.why = "this worker stands by: another one of its group runs the connectors"
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._take_part())
            while True:
                await self._has_turn.wait()
                self._rests.clear()
                try:
                    await self._lead()
                finally:
                    self.leads.clear()
                    self._rests.set()

    async def stop(self) -> None:
        """Have all tasks end what they are at."""
        self._has_turn.clear()
        self._lost_turn.set()
        await self._rests.wait()

    async def run_only(self, connectors: Mapping[str, Mapping[str, str]]) -> None:
        """Once it leads, have these connectors and no others; WebError if one cannot be."""
        await self.leads.wait()
        assert self.herder is not None, "it leads"
        operations = Operations(self.herder)
        for name in operations.names():
            if name not in connectors:
                await operations.delete(name)
        for name, config in connectors.items():
            try:
                await operations.put(name, config)
                await operations.set_target(name, STARTED)
            except WebError as error:
                raise ConfigError(f"connector {name}: {error.message}") from error

    async def _lead(self) -> None:
        engine = started_engine(self.settings)
        herder = Herder(self.settings, self.plugins, await read_state(self.settings), engine)
        try:
            await herder.writer.take_over()
            # What the predecessor still committed before it was fenced counts as well.
            herder.state = await read_state(self.settings)
            await warn_of_other_groups(self.settings, herder.state)
            handlers = ConnectHandlers(Operations(herder), self._cluster_id)
            self._opening.app = connect_app(
                handlers, self.users, is_loopback=self.settings.host in ("localhost", "127.0.0.1")
            )
            self.herder = herder
            self.leads.set()
            _log.info("this worker runs the %d connectors", len(herder.state.configs))
            await herder.run(self._lost_turn)
        finally:
            self._opening.app = self.herder = None
            await herder.writer.close()
            if engine is not None:
                await asyncio.to_thread(engine.close)

    async def _take_part(self) -> None:
        client = {
            **self.settings.client("consumer."),
            "group.id": self.settings.group_id,
            "enable.auto.commit": False,
            "auto.offset.reset": "latest",
            # Who has the turn keeps it, and works on, while others come and go.
            "partition.assignment.strategy": "cooperative-sticky",
        }
        async with Consumer[bytes, bytes](client) as consumer:
            consumer.subscribe(
                [self.settings.config_topic],
                on_assigned=self._assigned,
                on_revoked=self._revoked,
                on_lost=self._revoked,
            )
            while True:
                try:
                    await consumer.poll(_POLL_S)
                except InconsistentGroupProtocol as error:
                    raise ConnectError(
                        f"group.id={self.settings.group_id} is in use by workers of Apache Kafka "
                        "Connect: stop them first"
                    ) from error
                except RetriableError as error:
                    _log.warning("the group of workers cannot be reached: %s", error)
                    await asyncio.sleep(_POLL_S)

    def _assigned(self, partitions: "list[TopicPartition]") -> None:
        if partitions:
            self._lost_turn.clear()
            self._has_turn.set()

    def _revoked(self, partitions: "list[TopicPartition]") -> None:
        if partitions:
            self._has_turn.clear()
            self._lost_turn.set()


def started_engine(settings: WorkerSettings) -> "Engine | None":
    """What does the work of tasks, if not threads of the worker; nothing is opened yet."""
    if settings.engine != SPARK:
        return None
    try:
        from moldau.connect.spark.engine import SparkEngine  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError(
            f"engine=spark: {error}; pip install 'moldau[connect,spark]' brings what it needs"
        ) from error
    return SparkEngine(settings)


@asynccontextmanager
async def running_worker(
    settings: WorkerSettings, binding: Binding, users: "Users | None" = None
) -> AsyncIterator[tuple[str, Worker]]:
    """Serve until the block ends; it begins when REST answers, maybe as a stand-by."""
    settings = settings.resolved()
    opening = StandByApp()
    async with serving(opening, binding) as url:
        found = urlsplit(url)
        host = settings.properties.get("rest.advertised.host.name", found.hostname)
        port = settings.properties.get("rest.advertised.port", found.port)
        known = replace(settings, worker_id=f"{host}:{port}")
        known.log_ignored()
        started_engine(known)  # or say now why it cannot be
        worker = Worker(known, opening)
        worker.users = users
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(worker.run())
            try:
                yield url, worker
            finally:
                await worker.stop()
                running.cancel()
