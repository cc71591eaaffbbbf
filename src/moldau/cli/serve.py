"""Start a broker, with a configuration file or without any."""

import argparse
import asyncio
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from moldau.cli.terminal.daemon import leave_behind, without_script_options
from moldau.config.broker.startup import Startup, read_startup
from moldau.config.properties import decode_properties, parse_overrides
from moldau.errors import KafkaError
from moldau.runtime.logs import LEVELS, log_to_stderr

_LEVEL_VARIABLE = "MOLDAU_LOG_LEVEL"
# A request of a hundred thousand names is as many objects for a moment. With the thresholds of
# Python the collector would look at all of them several times, for tens of milliseconds each.
GARBAGE_THRESHOLDS = (50_000, 20, 10)
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def main(arguments: Sequence[str]) -> int:
    """Run a broker until it is told to stop; returns the exit code."""
    own, is_daemon = without_script_options(arguments)
    if is_daemon:
        leave_behind("serve", "kafkaServer.out", own)
        return 0
    options = _parser().parse_args(own)
    log_to_stderr(options.log_level, options.log_format)
    try:
        startup = read_startup(settings(options))
    except (KafkaError, OSError) as error:
        return _fail(str(error))
    # Nothing that is made during the start is garbage; see `_serve`.
    gc.disable()
    # Imported only now: a bad setting, or --help, is answered without the broker.
    from moldau.broker.faults import failure_of  # noqa: PLC0415

    try:
        asyncio.run(_serve(startup, metrics_port=options.metrics_port))
    except Exception as error:
        message = failure_of(error)
        if message is None:
            raise
        return _fail(message)
    return 0


def settings(options: argparse.Namespace) -> dict[str, str]:
    """All settings: of the file, then of the options."""
    texts: dict[str, str] = {}
    if options.config is not None:
        texts |= decode_properties(Path(options.config).read_bytes())
    else:
        texts["log.dirs"] = str(default_directory())
    if options.data is not None:
        texts.pop("log.dir", None)
        texts["log.dirs"] = options.data
    if options.port is not None:
        texts["listeners"] = f"PLAINTEXT://:{options.port}"
    return texts | parse_overrides(options.override)


def default_directory() -> Path:
    """Where a broker without a configuration keeps its data: not in /tmp, which is emptied."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "moldau"


async def _serve(startup: Startup, *, metrics_port: int | None) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop_once() -> None:
        stop.set()
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
            # A second signal does not wait for anything: the next start recovers.
            signal.signal(number, signal.SIG_DFL)

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop_once)
    async with _running(startup, metrics_port):
        # What is loaded now lives as long as the process: the collector need not look at it.
        gc.freeze()
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        gc.enable()
        await stop.wait()


@asynccontextmanager
async def _running(startup: Startup, metrics_port: int | None) -> AsyncIterator[None]:
    from moldau.broker.announcement import (  # noqa: PLC0415
        announce_start,
        announce_stop,
        announce_warnings,
    )
    from moldau.broker.main import Ports, running  # noqa: PLC0415
    from moldau.net.metrics_page import MetricsPage  # noqa: PLC0415

    announce_warnings(startup)
    async with running(startup, Ports()) as started, asyncio.TaskGroup() as tasks:
        page = None
        if metrics_port is not None:
            page = MetricsPage(started.broker.metrics.text, port=metrics_port)
            serving = tasks.create_task(page.serve())
        announce_start(started, metrics_port=None if page is None else page.port)
        try:
            yield
        finally:
            announce_stop(started)
            if page is not None:
                serving.cancel()


def _fail(message: str) -> int:
    print(f"moldau serve: {message}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="moldau serve",
        description=__doc__,
        epilog="Without a file the broker listens on port 9092 and keeps its data in "
        f"{default_directory()}. All settings have Kafka's names.",
    )
    parser.add_argument("config", nargs="?", help="a server.properties file")
    parser.add_argument(
        "--override",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting that takes the place of the file's; may be repeated",
    )
    parser.add_argument("--port", type=int, help="listen here, in plain text, on all addresses")
    parser.add_argument("--data", metavar="DIRECTORY", help="keep the data here (log.dirs)")
    parser.add_argument(
        "--metrics-port", type=int, help="serve metrics for Prometheus on this port"
    )
    parser.add_argument(
        "--log-level",
        choices=LEVELS,
        default=os.environ.get(_LEVEL_VARIABLE, "info").lower(),
        help=f"default: info, or ${_LEVEL_VARIABLE}",
    )
    parser.add_argument("--log-format", choices=("text", "json"), default="text")
    return parser
