"""All that one run of an application needs: a Spark session, topics, queries, pages."""

import asyncio
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from pyspark.sql import SparkSession

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.loop_thread import LoopThread
from moldau.config.listeners import LOOPBACK
from moldau.errors import ErrorCode
from moldau.net.metrics_page import MetricsPage, Page
from moldau.spark.local import keep_local
from moldau.spark.source import register
from moldau.streams.compile.compiling import Query
from moldau.streams.compile.inputs import KafkaInputs
from moldau.streams.nodes.nodes import InternalTopic
from moldau.streams.queries.serving import TableServer
from moldau.streams.queries.view import TableView
from moldau.streams.run.app import App
from moldau.streams.run.clients import ApplicationOptions
from moldau.streams.run.progress import line, metrics
from moldau.streams.run.running import RunningQuery, RunSettings, run, running_queries
from moldau.streams.run.tables import stored_tables
from moldau.streams.settings import SETTINGS

_CLEAR = "\r\x1b[K"


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
        self._checkpoint = options.get("checkpoint", f".moldau/{app.application}")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master(keep_local(options.get("master", "local[*]")))
        builder = builder.appName(app.application).config("spark.ui.showConsoleProgress", "false")
        self.spark = builder.config(map={**SETTINGS, **conf}).getOrCreate()
        register(self.spark)
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

    def start(
        self,
        *,
        is_exactly_once: bool = True,
        trigger: Mapping[str, object] | None = None,
    ) -> None:
        """Make the topics of the application and its queries, which `run` starts."""
        asyncio.run(self._create_topics())
        inputs = KafkaInputs(self.spark, self._clients.source)
        self._compiled = self._app.topology.compile(inputs, self._app.application)
        sink = self._clients.sink
        settings = RunSettings(sink, self._checkpoint, is_exactly_once, trigger or {})
        self._queries = running_queries(self._compiled, settings)

    def serve(
        self, *, metrics_port: int = -1, tables_port: int = -1, host: str = LOOPBACK
    ) -> list[str]:
        """Answer queries on these ports, any free one for 0; returns where that is."""
        places = []
        if metrics_port >= 0:
            shown = Page(metrics(self._queries).lines)
            pages = {"/": shown, "/metrics": shown}
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

    def run(self, stop: threading.Event, *, is_terminal: bool) -> None:
        """Keep the queries running until `stop` is set; a terminal sees what they do."""

        def show(queries: Sequence[RunningQuery]) -> None:
            if is_terminal:
                print(f"{_CLEAR}{line(queries)}", end="", flush=True)

        run(self._queries, stop, show)
        if is_terminal:
            print()

    def _views(self) -> dict[str, TableView]:
        return {
            table.name: TableView(self._clients.view, table.topic, key=table.key, value=table.value)
            for table in stored_tables(self._app.topology, self._compiled, self._app.application)
        }

    async def _create_topics(self) -> None:
        """Changelogs keep the last value of each key; other topics are the user's."""
        wanted = [
            NewTopic(node.topic.of(self._app.application), configs={"cleanup.policy": "compact"})
            for node in self._app.topology.sinks
            if isinstance(node.topic, InternalTopic)
        ]
        async with Admin(self._clients.admin) as admin:
            outcomes = await admin.create_topics(wanted)
        for error in outcomes.errors.values():
            if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                raise error


async def _begun(page: MetricsPage) -> "asyncio.Task[None]":
    return asyncio.get_running_loop().create_task(page.serve())


async def _ended(serving: "asyncio.Task[None]") -> None:
    serving.cancel()
    await asyncio.wait([serving])
