"""Run a topology of moldau.streams on Spark, or show it."""

import signal
import sys
import threading
from collections.abc import Sequence
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

OPTIONS = Options(
    "streams",
    "`moldau streams run APP.py` runs the topology that the file defines, until SIGTERM or Ctrl-C, "
    "and goes on where it ended when it is run again; `moldau streams describe APP.py` shows it.",
    BOOTSTRAP_SERVER,
    Option("master", "Spark's master; local[*] without it.", "URL"),
    Option("application", "The name of the application; that of the file without it.", "NAME"),
    Option("checkpoint", "Where queries note how far they are; .moldau/NAME without it.", "DIR"),
    Option("at-least-once", "Write without transactions: sooner, but twice after a failure."),
    Option("available-now", "Process what is there, and end."),
    Option("interval-ms", "The least time between micro-batches.", "MILLISECONDS", kind=int),
    Option(
        "option",
        "An option of the source, e.g. maxOffsetsPerTrigger=10000; with kafka. before its name, a "
        "setting of all clients that have it.",
        "NAME=VALUE",
    ),
    COMMAND_CONFIG,
    Option("conf", "A setting of Spark, e.g. spark.sql.shuffle.partitions=4.", "NAME=VALUE"),
    Option("metrics-port", "Serve metrics for Prometheus on this port.", "PORT", kind=int),
    Option("tables-port", "Serve tables that have a store on this port.", "PORT", kind=int),
    Option("host", "The address of both; localhost without it, 0.0.0.0 for all.", "ADDRESS"),
    Option("format", "What describe prints: text, mermaid or svg.", "FORMAT"),
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    match given.rest:
        case ["run", file]:
            return _run(_app(file, given), given)
        case ["describe", file]:
            return _describe(_app(file, given), given.text("format", "text"))
    raise CommandFailed("say `moldau streams run APP.py` or `moldau streams describe APP.py`")


def _app(file: str, given: Given) -> "App":
    try:
        from moldau.streams.run.app import NoTopology, load_app  # noqa: PLC0415 - takes long
    except ModuleNotFoundError as error:
        raise CommandFailed(f"{error.name} is missing: pip install 'moldau[spark]'") from error
    try:
        return load_app(file, given.text("application"))
    except NoTopology as error:
        raise CommandFailed(str(error)) from error


def _describe(app: "App", wanted: str) -> int:
    pictures = {
        "text": app.topology.describe,
        "mermaid": app.topology.mermaid,
        "svg": app.topology.svg,
    }
    if wanted not in pictures:
        raise CommandFailed(f"--format is text, mermaid or svg, not {wanted}")
    print(pictures[wanted]())
    return 0


def _run(app: "App", given: Given) -> int:
    from moldau.streams.run.command import Running  # noqa: PLC0415 - imports Spark

    given.require("bootstrap-server")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    options = {
        name: given.text(name)
        for name in ("master", "checkpoint", "bootstrap-server")
        if name in given
    }
    with Running(app, options, pairs(given.texts("conf")), clients(given)) as running:
        running.start(
            is_exactly_once="at-least-once" not in given,
            trigger=trigger(given),
        )
        places = running.serve(
            metrics_port=given.last("metrics-port", int, -1),
            tables_port=given.last("tables-port", int, -1),
            host=given.text("host", LOOPBACK),
        )
        for place in places:
            print(place, file=sys.stderr)
        print(f"{app.application} runs; Ctrl-C or SIGTERM ends it.", file=sys.stderr, flush=True)
        running.run(stop, is_terminal=sys.stdout.isatty())
    print(f"{app.application} has stopped.", file=sys.stderr, flush=True)
    return 0


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
