"""`moldau serve --brokers`: what the options ask for, and the life of the cluster."""

import argparse
import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from moldau.cli.terminal.data_directory import default_directory
from moldau.config.broker.startup import read_startup
from moldau.config.listeners import LOOPBACK
from moldau.config.properties import decode_properties, parse_overrides
from moldau.config.values import config_error
from moldau.coordination.journal import FILE_NAME
from moldau.net.metrics_page import MetricsPage
from moldau.supervisor.metrics import ClusterMetrics
from moldau.supervisor.plan import ClusterWish, check_wish, ports_of, settings_of
from moldau.supervisor.running import RunningBrokers, running_brokers

_log = logging.getLogger(__name__)

_PORT = 9092
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - only if it is asked for
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_ANY_TREE = "localhost:1"
_FOR_ONE = {
    "topic_configs": "leave it out with --brokers",
    "registry": "with --brokers start `moldau registry` beside them",
    "console": "with --brokers start `moldau console` beside them",
}


def wish_of(options: argparse.Namespace) -> ClusterWish:
    """The cluster that is asked for; a KafkaError says what cannot be."""
    texts: dict[str, str] = {}
    if options.config is not None:
        texts |= decode_properties(Path(options.config).read_bytes())
    texts |= parse_overrides(options.override)
    for name, instead in _FOR_ONE.items():
        if getattr(options, name):
            raise config_error(f"--{name.replace('_', '-')} is for one broker: {instead}")
    data = Path(options.data) if options.data else default_directory()
    if not data.is_absolute() and not options.data:
        raise config_error("there is no home directory: name a directory with --data")
    if (data / FILE_NAME).exists():
        raise config_error(
            f"{data} has the data of a broker that is alone: name another directory with --data"
        )
    count, ports = _count(options.brokers), _ports(options.ports)
    shared_port = options.port
    if shared_port is None and not ports:
        shared_port = _PORT
    wish = ClusterWish(
        count=count,
        data=data.absolute(),
        host=_host(options.host),
        ports=ports_of(count, shared_port or _PORT, ports),
        texts=texts,
        advertised_host=options.advertised_host or "",
        shared_port=shared_port,
        tree_port=options.tree_port or 0,
    )
    check_wish(wish)
    for broker_id in range(wish.count):
        read_startup(settings_of(wish, broker_id, _ANY_TREE))
    return wish


def run_brokers(wish: ClusterWish, options: argparse.Namespace) -> None:
    """Run them until a signal asks to stop."""
    asyncio.run(_run(wish, options))


async def _run(wish: ClusterWish, options: argparse.Namespace) -> None:
    given = ["--log-level", options.log_level, "--log-format", options.log_format]
    if options.metrics_port is not None:
        given += ["--metrics-port", "0"]
    stop = asyncio.Event()
    async with running_brokers(wish, given) as cluster:
        _stop_on_signals(stop, cluster)
        async with _watched(cluster, options):
            _announce(wish, cluster)
            announcing = asyncio.create_task(_announce_start(wish, cluster))
            await stop.wait()
            announcing.cancel()
    _log.info("all %d brokers have stopped", wish.count)


def _stop_on_signals(stop: asyncio.Event, cluster: RunningBrokers) -> None:
    loop = asyncio.get_running_loop()

    def stop_once(received: signal.Signals) -> None:
        if stop.is_set():
            # A second signal does not wait for anything: the next start recovers.
            cluster.kill()
        else:
            _log.info("received %s: the brokers are stopped one after the other", received.name)
            stop.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop_once, number)


def _announce(wish: ClusterWish, cluster: RunningBrokers) -> None:
    _log.info("%d brokers keep their data in %s", wish.count, wish.data)
    _log.info("the tree is served on %s, to this machine alone", cluster.tree)


async def _announce_start(wish: ClusterWish, cluster: RunningBrokers) -> None:
    await cluster.up()
    host = wish.advertised_host or wish.host or LOOPBACK
    place = f"[{host}]" if ":" in host else host
    ports = wish.ports if wish.shared_port is None else [wish.shared_port]
    addresses = ",".join(f"{place}:{port}" for port in ports)
    _log.info("all %d brokers have started: bootstrap.servers=%s", wish.count, addresses)


@asynccontextmanager
async def _watched(cluster: RunningBrokers, options: argparse.Namespace) -> AsyncIterator[None]:
    if options.metrics_port is None:
        yield
        return
    host = "" if options.metrics_host in _EVERYWHERE else options.metrics_host
    pages = ClusterMetrics(cluster.children).pages()
    page = MetricsPage(pages, host=host, port=options.metrics_port)
    shown = f"[{host}]" if ":" in host else host or "0.0.0.0"  # noqa: S104 - what was asked for
    _log.info("metrics of all brokers on http://%s:%d/metrics, health on /readyz", shown, page.port)
    serving = asyncio.create_task(page.serve())
    try:
        yield
    finally:
        serving.cancel()


def _count(text: str) -> int:
    if text == "auto":
        return len(os.sched_getaffinity(0))
    if not text.isdecimal():
        raise config_error(f"--brokers: {text} is neither a number nor auto")
    return int(text)


def _ports(text: str | None) -> list[int]:
    if text is None:
        return []
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise config_error(f"--ports: {text} is no list of ports")
    return [int(part) for part in parts]


def _host(host: str | None) -> str:
    if host is None:
        return LOOPBACK
    return "" if host in _EVERYWHERE else host
