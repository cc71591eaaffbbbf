"""Start a broker or several, with a configuration file or without any."""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.cli.terminal.advertised_host import advertised
from moldau.cli.terminal.daemon import leave_behind, without_script_options
from moldau.cli.terminal.data_directory import default_directory, shown_directory
from moldau.cli.terminal.listed_topics import read_listed_topics
from moldau.cli.terminal.log_options import add_log_options, start_log
from moldau.cli.terminal.several_options import (
    add_options,
    bind_of,
    end_with_input,
    require_brokers,
)
from moldau.config.broker.startup import Startup, read_startup
from moldau.config.listener_settings import ListenerSettings
from moldau.config.listeners import LOOPBACK, SecurityProtocol
from moldau.config.properties import decode_properties, parse_overrides
from moldau.config.values import config_error
from moldau.errors import KafkaError
from moldau.runtime.garbage import owned_collector

if TYPE_CHECKING:
    from moldau.broker.main import RunningBroker
    from moldau.broker.metrics.health import Health
    from moldau.config.listeners import ListenerConfig

_log = logging.getLogger(__name__)

_PORT_MAX = 65_535
_WITH_LOGINS = (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_PORT = 9092
_EVERYWHERE = ("0.0.0.0", "::", "", None)  # noqa: S104 - only if it is asked for
_DIRECTORIES = ("log.dirs", "log.dir")
_KAFKAS_DIRECTORY = "/tmp/kafka-logs"  # noqa: S108 - only looked at


def main(arguments: Sequence[str]) -> int:
    """Run a broker until it is asked to stop; returns the exit code."""
    own, is_daemon = without_script_options(arguments)
    if is_daemon:
        leave_behind("serve", "kafkaServer.out", own)
        return 0
    parser = _parser()
    options = parser.parse_args(own)
    if not 0 <= (options.metrics_port or 0) <= _PORT_MAX:
        parser.error(f"--metrics-port: {options.metrics_port} is not between 0 and {_PORT_MAX}")
    require_brokers(options, parser)
    start_log(options)
    if options.brokers is not None:
        return _run_several(options)
    try:
        startup = read_startup(settings(options))
        if options.topic_configs is not None:
            topics = read_listed_topics(options.topic_configs, startup)
            startup = replace(startup, listed_topics=topics)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}")
    except KafkaError as error:
        return _fail(str(error))
    cluster = cluster_directory(startup.texts)
    if cluster is not None:
        return _fail(f"{cluster} has the data of a cluster: start it with --brokers")
    warning = unused_data(startup.texts)
    if options.config is not None and warning is not None:
        _log.warning("%s", warning)
    with owned_collector() as started:
        return _run(startup, options, started)


def refuse_unsupported(startup: Startup) -> None:
    """Raise InvalidConfig for settings that a broker cannot honour, as its start does."""
    from moldau.broker.login.login_settings import read_logins  # noqa: PLC0415 - see _run
    from moldau.broker.settings import unsupported  # noqa: PLC0415

    unsupported.refuse_unsupported(startup)
    for listener in startup.listeners.bound:
        if listener.protocol in _WITH_LOGINS:
            read_logins(ListenerSettings(startup.texts, listener.name))


def _run_several(options: argparse.Namespace) -> int:
    # The supervisor stays small: a broker does not need this, and this no broker.
    from moldau.cli.terminal.several_brokers import run_brokers, wish_of  # noqa: PLC0415
    from moldau.coordination.journal import StoreError  # noqa: PLC0415

    try:
        run_brokers(wish_of(options), options)
    except OSError as error:
        return _fail(error.strerror or str(error))
    except (KafkaError, StoreError) as error:
        return _fail(str(error))
    except ExceptionGroup as group:
        return _fail("; ".join(str(each) for each in group.exceptions))
    return 0


def _run(startup: Startup, options: argparse.Namespace, started: Callable[[], None]) -> int:
    # Imported only now: a bad setting, or --help, is answered without the broker.
    from moldau.broker.faults import failure_of  # noqa: PLC0415

    try:
        asyncio.run(_serve(startup, options, started))
    except Exception as error:
        message = failure_of(error)
        if message is None:
            raise
        return _fail(message)
    return 0


def settings(options: argparse.Namespace) -> dict[str, str]:
    """All settings: of the file, then of the options; what is not set is ours to choose."""
    texts: dict[str, str] = {}
    if options.config is not None:
        texts |= decode_properties(Path(options.config).read_bytes())
    if options.data is not None:
        texts.pop("log.dir", None)
        texts["log.dirs"] = options.data
    if is_private(options):
        texts["listeners"] = _listener(LOOPBACK, options.port)
    elif options.host is not None or options.port is not None:
        host = "" if options.host in _EVERYWHERE else options.host
        texts["listeners"] = _listener(host, options.port)
    texts |= parse_overrides(options.override)
    if options.advertised_host:
        listeners = texts.get("listeners", _listener("", None))
        texts["advertised.listeners"] = advertised(listeners, options.advertised_host)
    if texts.keys().isdisjoint(_DIRECTORIES):
        directory = default_directory()
        if not directory.is_absolute():
            raise config_error("there is no home directory: name a directory with --data")
        texts["log.dirs"] = str(directory)
    return texts


def is_private(options: argparse.Namespace) -> bool:
    """Whether no address is given: then only this machine may connect.

    Nobody has to log in then, and a user who tries it out in a café did not mean to share it. A
    file is Kafka's, and so is what it does not say; brokers of a cluster, and those that advertise
    an address, want to be reached.
    """
    is_given = {"listeners", "advertised.listeners", "zookeeper.connect"}
    return (
        options.config is None
        and options.host is None
        and not options.advertised_host
        and is_given.isdisjoint(parse_overrides(options.override))
    )


def cluster_directory(texts: Mapping[str, str]) -> str | None:
    """The directory of a broker that is none, but of a cluster that `--brokers` has made."""
    directories = texts.get("log.dirs", texts.get("log.dir", "")).split(",")
    found = [each.strip() for each in directories if Path(each.strip(), "tree.sqlite").exists()]
    return found[0] if found else None


def unused_data(texts: Mapping[str, str]) -> str | None:
    """What to say if Apache Kafka would have found data with the same settings, and we do not."""
    used = texts.get("log.dirs")
    if used != str(default_directory()) or not Path(_KAFKAS_DIRECTORY, "meta.properties").exists():
        return None
    return (
        f"{_KAFKAS_DIRECTORY} has data and is not used, since log.dirs is not set: it is kept in "
        f"{used}. To use the other: log.dirs={_KAFKAS_DIRECTORY}"
    )


def _listener(host: str, port: int | None) -> str:
    place = f"[{host}]" if ":" in host else host
    return f"PLAINTEXT://{place}:{_PORT if port is None else port}"


async def _serve(
    startup: Startup, options: argparse.Namespace, started: Callable[[], None]
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop_once(received: signal.Signals) -> None:
        _log.info("received %s", received.name)
        stop.set()
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
            # A second signal does not wait for anything: the next start recovers.
            signal.signal(number, signal.SIG_DFL)

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop_once, number)
    if options.until_input_ends:
        end_with_input(stop)
    async with _running(startup, options):
        started()
        await stop.wait()


@asynccontextmanager
async def _running(startup: Startup, options: argparse.Namespace) -> AsyncIterator[None]:
    from moldau.broker.announcement import (  # noqa: PLC0415
        announce_start,
        announce_stop,
        announce_stopped,
        announce_warnings,
    )
    from moldau.broker.main import Ports, running  # noqa: PLC0415
    from moldau.broker.metrics.health import Health  # noqa: PLC0415

    announce_warnings(startup)
    health = Health()
    async with _watched(health, options):
        async with running(startup, Ports(bind=bind_of(options))) as started:
            health.broker = started.broker
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, started.broker.key_stores.look_again)
            announce_start(started, is_private=is_private(options))
            async with (
                _registry(startup, started, options),
                _console(startup, started, options),
                _backups(started),
            ):
                yield
            announce_stop(started)
        announce_stopped(started)


@asynccontextmanager
async def _registry(
    startup: Startup, started: "RunningBroker", options: argparse.Namespace
) -> AsyncIterator[None]:
    """A schema registry beside the broker, if one is asked for."""
    if not options.registry:
        yield
        return
    from moldau.cli.terminal.registry_beside import registry_beside  # noqa: PLC0415

    async with registry_beside(_first_listener(startup, started), options.registry_port):
        yield


@asynccontextmanager
async def _backups(started: "RunningBroker") -> AsyncIterator[None]:
    """What `moldau backup` asks; a broker of a cluster has replicas instead."""
    from moldau.coordination.embedded import EmbeddedTree  # noqa: PLC0415

    if not isinstance(started.tree, EmbeddedTree):
        yield
        return
    # Imported only now: a supervisor of several brokers does without logs.
    from moldau.cli.backups.answering import answer_backups  # noqa: PLC0415

    directories = [each.volume.path for each in started.broker.logs.directories]
    async with asyncio.TaskGroup() as tasks:
        answering = tasks.create_task(answer_backups(directories, started.tree.copy_to))
        try:
            yield
        finally:
            answering.cancel()


@asynccontextmanager
async def _console(
    startup: Startup, started: "RunningBroker", options: argparse.Namespace
) -> AsyncIterator[None]:
    """A web console beside the broker, if one is asked for."""
    if not options.console:
        yield
        return
    from moldau.cli.terminal.console_beside import console_beside  # noqa: PLC0415

    async with console_beside(_first_listener(startup, started), options.console_port):
        yield


def _first_listener(startup: Startup, started: "RunningBroker") -> "ListenerConfig":
    first = startup.listeners.bound[0]
    return replace(first, port=started.ports[first.name])


@asynccontextmanager
async def _watched(health: "Health", options: argparse.Namespace) -> AsyncIterator[None]:
    """Metrics and health over HTTP from before the start until after the stop."""
    if options.metrics_port is None:
        yield
        return
    from moldau.broker.announcement import announce_metrics  # noqa: PLC0415
    from moldau.net.metrics_page import MetricsPage  # noqa: PLC0415

    host = "" if options.metrics_host in _EVERYWHERE else options.metrics_host
    page = MetricsPage(health.pages(), host=host, port=options.metrics_port)
    announce_metrics(host, page.port)
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(page.serve())
        try:
            yield
        finally:
            serving.cancel()


def _fail(message: str) -> int:
    print(f"moldau serve: {message}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="moldau serve",
        allow_abbrev=False,
        description=__doc__,
        epilog="Without a file the broker listens on port 9092 of this machine alone. Where "
        f"nothing names a directory it keeps its data in {shown_directory()}. All settings have "
        "Kafka's names.",
    )
    parser.add_argument("config", nargs="?", help="a server.properties file")
    parser.add_argument(
        "--override",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting instead of the file's; may be repeated",
    )
    parser.add_argument(
        "--host",
        help="listen on this address, in plain text and without authentication: 0.0.0.0 for "
        "all of them; localhost, unless a file or a setting says otherwise",
    )
    parser.add_argument("--port", type=int, help="listen on this port; default: 9092")
    parser.add_argument("--data", metavar="DIRECTORY", help="keep the data here (log.dirs)")
    parser.add_argument(
        "--topic-configs",
        metavar="FILE",
        help="settings of the topics in a log directory without its ZooKeeper: JSON, the output of "
        "kafka-configs.sh --describe --all --entity-type topics, or zookeeper://HOST:PORT/CHROOT",
    )
    add_options(parser)
    _add_watching(parser)
    return parser


def _add_watching(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metrics-port",
        type=int,
        metavar="PORT",
        help="serve metrics for Prometheus on this port, under /metrics; /readyz says 200 while "
        "the broker serves, else 503 and why, /healthz 200 while the process runs",
    )
    parser.add_argument(
        "--metrics-host",
        default=LOOPBACK,
        metavar="HOST",
        help="serve them on this address: 0.0.0.0 for all; default: localhost",
    )
    parser.add_argument(
        "--registry",
        action="store_true",
        help="run a schema registry beside the broker, for this machine: see `moldau registry`",
    )
    parser.add_argument(
        "--registry-port",
        type=int,
        default=8081,
        metavar="PORT",
        help="its port; default: 8081",
    )
    parser.add_argument(
        "--console",
        action="store_true",
        help="run the web console beside the broker, for this machine: see `moldau console`",
    )
    parser.add_argument(
        "--console-port",
        type=int,
        default=8080,
        metavar="PORT",
        help="its port; default: 8080",
    )
    add_log_options(parser)
