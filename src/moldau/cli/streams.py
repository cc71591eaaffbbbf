"""Run, show or reset a topology of moldau.streams on Spark."""

import asyncio
import signal
import sys
import threading
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from moldau.cli.terminal.client_settings import read_file, usable
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    Given,
    Option,
    Options,
)
from moldau.config.listeners import LOOPBACK

if TYPE_CHECKING:
    from moldau.streams.run.app import App
    from moldau.streams.run.command import RunOptions
    from moldau.streams.run.reset import Reset, StartPoint

_STARTS = ("to-earliest", "to-latest", "to-datetime", "by-duration", "to-offset")
_RESTARTS_OF_AVAILABLE = 3
"""What ends by itself is waited for, so it does not go on failing for long."""

OPTIONS = Options(
    "streams",
    "run: runs the topology that the file defines, until SIGTERM or Ctrl-C. The next run continues "
    "where the last one ended.\n"
    "describe: shows the topology.\n"
    "reset: forgets the progress and the state, so that the next run begins anew.",
    BOOTSTRAP_SERVER,
    Option("master", "Spark's master; default: local[*].", "URL"),
    Option("application", "The name of the application; default: that of the file.", "NAME"),
    Option("checkpoint", "Where queries store their progress; default: .moldau/NAME.", "DIR"),
    Option("at-least-once", "Write without transactions: sooner, but twice after a failure."),
    Option("available-now", "Process what is there, and end."),
    Option("interval-ms", "The least time between micro-batches.", "MILLISECONDS", kind=int),
    Option(
        "max-restarts",
        "How often a query that fails is started again within the window, before the command ends "
        "with code 1; 10 without it, 3 with --available-now.",
        "COUNT",
        kind=int,
    ),
    Option(
        "restart-window-ms",
        "The window of --max-restarts; default: ten minutes.",
        "MILLISECONDS",
        kind=int,
    ),
    Option(
        "state-partitions",
        "In how many partitions a new query keeps its state; without it as many as its topics "
        "have, but no more than there are cores. Later only a reset changes it.",
        "COUNT",
        kind=int,
    ),
    Option(
        "option",
        "An option of the source, e.g. maxOffsetsPerTrigger=10000; with kafka. before its name, a "
        "setting of all clients that have it.",
        "NAME=VALUE",
    ),
    COMMAND_CONFIG,
    Option("conf", "A setting of Spark, e.g. spark.executor.memory=4g.", "NAME=VALUE"),
    Option("metrics-port", "Serve metrics for Prometheus on this port.", "PORT", kind=int),
    Option("tables-port", "Serve tables that have a store on this port.", "PORT", kind=int),
    Option("host", "The address of both ports; default: localhost; 0.0.0.0: all.", "ADDRESS"),
    Option("format", "What describe prints: text, mermaid or svg.", "FORMAT"),
    Option("diff", "describe: what can continue from this checkpoint, and what not.", "DIR"),
    Option("dry-run", "reset: only print what would be done."),
    Option("to-earliest", "reset: begin with the first records, which is the default."),
    Option("to-latest", "reset: begin with new records."),
    Option("to-datetime", "reset: begin at a time, 2026-01-31T00:00:00.000.", "TIME"),
    Option("by-duration", "reset: begin so long ago, P1DT2H3M4S.", "DURATION"),
    Option("to-offset", "reset: begin at this offset of each partition.", "OFFSET", kind=int),
    arguments="run|describe|reset APP.py",
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    match given.rest:
        case ["run", file]:
            return _run(_app(file, given), given)
        case ["describe", file]:
            return _describe(_app(file, given), given)
        case ["reset", file]:
            return _reset(_app(file, given), given)
    raise CommandFailed(
        "say `moldau streams run APP.py`, `moldau streams describe APP.py` or "
        "`moldau streams reset APP.py`"
    )


def _app(file: str, given: Given) -> "App":
    try:
        from moldau.streams.run.app import NoTopology, load_app  # noqa: PLC0415 - takes long
    except ModuleNotFoundError as error:
        raise CommandFailed(f"{error.name} is missing: pip install 'moldau[spark]'") from error
    try:
        return load_app(file, given.text("application"))
    except NoTopology as error:
        raise CommandFailed(str(error)) from error


def _describe(app: "App", given: Given) -> int:
    if "diff" in given:
        return _differing(app, given.text("diff"))
    wanted = given.text("format", "text")
    pictures = {
        "text": app.topology.describe,
        "mermaid": app.topology.mermaid,
        "svg": app.topology.svg,
    }
    if wanted not in pictures:
        raise CommandFailed(f"--format is text, mermaid or svg, not {wanted}")
    print(pictures[wanted]())
    return 0


def _differing(app: "App", checkpoint: str) -> int:
    """As `diff` does, the code is 1 if something cannot go on."""
    from moldau.streams.run.comparing import compare  # noqa: PLC0415 - imports Spark
    from moldau.streams.run.manifest import CannotGoOn  # noqa: PLC0415

    try:
        comparison = compare(app, checkpoint)
    except CannotGoOn as error:
        raise CommandFailed(str(error)) from error
    print("\n".join(comparison.lines()))
    return 1 if comparison.refused else 0


def _run(app: "App", given: Given) -> int:
    from moldau.streams.run.standby import only_instance  # noqa: PLC0415 - not everywhere

    given.require("bootstrap-server")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())

    def report(what: str) -> None:
        print(f"{app.application} {what}.", file=sys.stderr, flush=True)

    with only_instance(given.text("checkpoint", app.checkpoint), stop, report) as is_ours:
        code = _run_alone(app, given, stop) if is_ours else 0
    report("has stopped")
    return code


def _run_alone(app: "App", given: Given, stop: threading.Event) -> int:
    from moldau.streams.run.command import Running  # noqa: PLC0415 - imports Spark
    from moldau.streams.run.manifest import CannotGoOn  # noqa: PLC0415
    from moldau.streams.run.running import QueryGivenUp  # noqa: PLC0415
    from moldau.streams.run.session import spark_log  # noqa: PLC0415

    names = ("master", "checkpoint", "bootstrap-server")
    options = {name: given.text(name) for name in names if name in given}
    log = spark_log(app.application, given.text("checkpoint", app.checkpoint))
    try:
        with Running(app, options, pairs(given.texts("conf")), clients(given)) as running:
            running.start(run_options(given))
            places = running.serve(
                metrics_port=given.last("metrics-port", int, -1),
                tables_port=given.last("tables-port", int, -1),
                host=given.text("host", LOOPBACK),
            )
            places.append(f"Spark's log: {log}")
            for place in places:
                print(place, file=sys.stderr)
            print(
                f"{app.application} runs; Ctrl-C or SIGTERM ends it.", file=sys.stderr, flush=True
            )
            is_sound = running.run(stop, is_terminal=sys.stdout.isatty())
    except CannotGoOn as error:
        raise CommandFailed(str(error)) from error
    except QueryGivenUp as error:
        raise CommandFailed(f"{error}\nSpark's log has the whole story: {log}") from error
    return 0 if is_sound else 1


def run_options(given: Given) -> "RunOptions":
    """How the queries run."""
    from moldau.streams.run.command import RunOptions  # noqa: PLC0415 - imports Spark
    from moldau.streams.run.restarts import RESTARTS_MAX, WINDOW_MS  # noqa: PLC0415

    restarts = _RESTARTS_OF_AVAILABLE if "available-now" in given else RESTARTS_MAX
    return RunOptions(
        is_exactly_once="at-least-once" not in given,
        trigger=trigger(given),
        restarts_max=given.number("max-restarts", restarts),
        restart_window_ms=given.number("restart-window-ms", WINDOW_MS),
        state_partitions=_state_partitions(given),
    )


def trigger(given: Given) -> dict[str, object]:
    """When micro-batches begin, in Spark's words."""
    if "available-now" in given:
        return {"availableNow": True}
    if "interval-ms" in given:
        return {"processingTime": f"{given.number('interval-ms')} milliseconds"}
    return {}


def clients(given: Given) -> dict[str, str]:
    """Options of source and clients: those of the file, and what the command line says of them."""
    from moldau.streams.run.clients import KINDS  # noqa: PLC0415 - takes long

    settings = usable(KINDS, read_file(given.text("command-config")))
    in_file = {f"kafka.{name}": str(value) for name, value in settings.items()}
    return {**in_file, **pairs(given.texts("option"))}


def pairs(texts: Sequence[str]) -> dict[str, str]:
    """Arguments of the form NAME=VALUE."""
    for text in texts:
        if "=" not in text:
            raise CommandFailed(f"{text}: write NAME=VALUE")
    return {text.partition("=")[0]: text.partition("=")[2] for text in texts}


def _reset(app: "App", given: Given) -> int:
    from moldau.streams.run.standby import owner_of  # noqa: PLC0415 - not everywhere

    given.require("bootstrap-server")
    checkpoint = given.text("checkpoint", app.checkpoint)
    owner = owner_of(checkpoint)
    if owner is not None:
        raise CommandFailed(f"{app.application} runs ({owner}): stop it first")
    try:
        reset = asyncio.run(_planned(app, given, checkpoint))
    except ValueError as error:
        raise CommandFailed(str(error)) from error
    verb = "would " if "dry-run" in given else ""
    for each in reset.lines():
        print(f"{verb}{each}")
    return 0


async def _planned(app: "App", given: Given, checkpoint: str) -> "Reset":
    """What is to be done, and done unless it is only to be shown."""
    from moldau.client.admin.admin import Admin  # noqa: PLC0415 - takes long
    from moldau.streams.run.clients import ApplicationOptions  # noqa: PLC0415
    from moldau.streams.run.reset import Reset, checkpointed, starting_offsets  # noqa: PLC0415
    from moldau.streams.run.topics import internal_topics, topics_read  # noqa: PLC0415

    topology, application = app.topology, app.application
    settings = ApplicationOptions(given.text("bootstrap-server"), clients(given)).admin
    forgotten = checkpointed(checkpoint)
    start, state_partitions = start_of(given), _state_partitions(given)
    async with Admin(settings) as admin:
        topics = topics_read(topology.nodes, application)
        starting = await starting_offsets(admin, topics, start)
        internal = internal_topics(topology, application)
        reset = Reset(checkpoint, forgotten, internal, starting, state_partitions)
        if "dry-run" not in given:
            await reset.do(admin)
    return reset


def start_of(given: Given) -> "StartPoint":
    """Where the next run begins."""
    from moldau.cli.groups.resetting import parse_datetime_ms, parse_duration  # noqa: PLC0415
    from moldau.client.offset_lookup import LATEST  # noqa: PLC0415
    from moldau.streams.run.reset import StartPoint  # noqa: PLC0415

    for name in _STARTS:
        given.refuse(name, *(other for other in _STARTS if other != name))
    if "to-datetime" in given:
        return StartPoint(None, parse_datetime_ms(given.text("to-datetime")))
    if "by-duration" in given:
        since = datetime.now().astimezone() - parse_duration(given.text("by-duration"))
        return StartPoint(None, int(since.timestamp() * 1000))
    if "to-offset" in given:
        return StartPoint(given.number("to-offset"))
    return StartPoint(LATEST) if "to-latest" in given else StartPoint()


def _state_partitions(given: Given) -> int | None:
    count = given.number("state-partitions")
    if "state-partitions" in given and count < 1:
        raise CommandFailed(f"--state-partitions is at least 1, not {count}")
    return count or None
