"""All that one run of an application needs: a Spark session, topics, queries, pages."""

import asyncio
import logging
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from moldau.client.blocking.loop_thread import LoopThread
from moldau.config.listeners import LOOPBACK
from moldau.net.metrics_page import MetricsPage
from moldau.streams.compile.compiling import Query
from moldau.streams.compile.inputs import KafkaInputs
from moldau.streams.compile.naming import in_order
from moldau.streams.queries.serving import TableServer
from moldau.streams.queries.view import TableView
from moldau.streams.run.app import App
from moldau.streams.run.clients import ApplicationOptions
from moldau.streams.run.late_rows import LateRows
from moldau.streams.run.manifest import KnownQuery, Manifest, compared, local_directory
from moldau.streams.run.pages import pages_of
from moldau.streams.run.progress import lines
from moldau.streams.run.restarts import RESTARTS_MAX, WINDOW_MS
from moldau.streams.run.running import RunningQuery, RunSettings, run, running_queries
from moldau.streams.run.screen import Screen
from moldau.streams.run.session import started_session
from moldau.streams.run.state_partitions import SETTING, StatePartitions
from moldau.streams.run.tables import stored_tables
from moldau.streams.run.topics import internal_topics, prepare, topics_read

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run may be given; the defaults are those of the command line."""

    is_exactly_once: bool = True
    trigger: Mapping[str, object] = field(default_factory=dict)
    restarts_max: int = RESTARTS_MAX
    restart_window_ms: int = WINDOW_MS
    state_partitions: int | None = None


class Running:
    """One run; leaving it stops the queries and the session.

    `clients` are options as of the source; what begins with `kafka.` is for all clients.
    """

    def __init__(
        self,
        app: App,
        options: Mapping[str, str],
        conf: Mapping[str, str],
        clients: Mapping[str, str] | None = None,
    ) -> None:
        self._app = app
        self._clients = ApplicationOptions(options["bootstrap-server"], clients or {})
        self._checkpoint = options.get("checkpoint", app.checkpoint)
        # What cannot be read is said before Spark starts.
        self._manifest = Manifest.read(self._checkpoint)
        self._said = int(conf[SETTING]) if SETTING in conf else None
        master = options.get("master", "")
        self.spark = started_session(app.application, self._checkpoint, master, conf)
        self._compiled: tuple[Query, ...] = ()
        self._queries: list[RunningQuery] = []
        self._ends = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ends.close()
        self.spark.stop()

    def start(self, options: RunOptions | None = None) -> None:
        """Make the topics of the application and its queries, which `run` starts.

        CannotGoOn if the topology does not fit the checkpoint.
        """
        given = options or RunOptions()
        topology, application = self._app.topology, self._app.application
        counts = asyncio.run(
            prepare(
                self._clients.admin,
                internal_topics(topology, application),
                topics_read(topology.nodes, application),
            )
        )
        starting, sink = self._manifest.starting, self._clients.sink
        inputs = KafkaInputs(self.spark, self._clients.source, starting, sink)
        self._compiled = self._as_known(topology.compile(inputs, application))
        divided = self._divided(given.state_partitions, counts)
        settings = RunSettings(
            sink,
            self._checkpoint,
            given.is_exactly_once,
            given.trigger,
            given.restarts_max,
            given.restart_window_ms,
            divided,
        )
        late = LateRows()
        self.spark.streams.addListener(late)
        self._queries = running_queries(self._compiled, settings, late=late)

    def serve(
        self, *, metrics_port: int = -1, tables_port: int = -1, host: str = LOOPBACK
    ) -> list[str]:
        """Answer queries on these ports, any free one for 0; returns where that is."""
        places = []
        if metrics_port >= 0:
            nodes = {query.name: in_order(query.sinks) for query in self._compiled}
            pages = pages_of(self._app.topology, nodes, self._queries)
            page = MetricsPage(pages, host=host, port=metrics_port)
            thread = LoopThread("moldau-metrics")
            self._ends.callback(thread.close)
            serving = thread.call(_begun(page))
            self._ends.callback(lambda: thread.call(_ended(serving)))
            places.append(f"metrics: http://{host}:{page.port}/metrics")
        if tables_port >= 0:
            views = {name: self._ends.enter_context(view) for name, view in self._views().items()}
            server = self._ends.enter_context(TableServer(views, port=tables_port, host=host))
            places.append(f"tables: http://{host}:{server.port}/tables")
        return places

    def run(self, stop: threading.Event, *, is_terminal: bool) -> bool:
        """Keep the queries running until `stop` is set; a terminal sees what they do.

        Returns whether all of them ran in the end. QueryGivenUp if one of them cannot.
        """

        screen = Screen(sys.stdout)

        def show(queries: Sequence[RunningQuery]) -> None:
            if is_terminal:
                screen.draw(lines(queries))

        run(self._queries, stop, show)
        return not any(query.is_down for query in self._queries)

    def _as_known(self, queries: tuple[Query, ...]) -> tuple[Query, ...]:
        """The queries under the names that their checkpoints have."""
        wanted = {query.name: query.signature for query in queries}
        comparison = compared(self._manifest.queries, wanted)
        comparison.check()
        for name in comparison.gone:
            _log.warning("%s is no longer in the topology: its state stays where it is", name)
        if local_directory(self._checkpoint) is None:
            _log.warning("%s is not here: the topology is not compared with it", self._checkpoint)
        return tuple(replace(query, name=comparison.names[query.name]) for query in queries)

    def _divided(self, said: int | None, counts: Mapping[str, int]) -> dict[str, int]:
        """In how many partitions each query keeps its state, which is noted in the checkpoint."""
        manifest = self._manifest
        wanted = said or self._said or manifest.state_partitions
        rule = StatePartitions(wanted, self.spark.sparkContext.defaultParallelism)
        found = {}
        for query in self._compiled:
            read = topics_read(in_order(query.sinks), self._app.application)
            most = max((counts.get(topic, 1) for topic in read), default=1)
            found[query.name] = rule.of(query.name, manifest.queries, most)
        known = {
            query.name: KnownQuery(query.signature, found[query.name]) for query in self._compiled
        }
        self._manifest = manifest.with_queries(known)
        self._manifest.write(self._checkpoint)
        return found

    def _views(self) -> dict[str, TableView]:
        return {
            table.name: TableView(self._clients.view, table.topic, key=table.key, value=table.value)
            for table in stored_tables(self._app.topology, self._compiled, self._app.application)
        }


async def _begun(page: MetricsPage) -> "asyncio.Task[None]":
    return asyncio.get_running_loop().create_task(page.serve())


async def _ended(serving: "asyncio.Task[None]") -> None:
    serving.cancel()
    await asyncio.wait([serving])
