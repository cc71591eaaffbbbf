"""Moldau's own tree as a server, with the settings of a zookeeper.properties file."""

import asyncio
import logging
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from moldau.cli.terminal.failure import CommandFailed
from moldau.config.listeners import LOOPBACK
from moldau.coordination.journal import StoreError
from moldau.net.listener import bind_host, listen
from moldau.runtime.clock import SystemClock
from moldau.zookeeper.server import TREE_FILE, ServerOptions, serving_tree
from moldau.zookeeper.session_table import SessionBounds

_log = logging.getLogger(__name__)

_TICK_MS = 3_000
_PORT_MAX = 65_535


@dataclass(frozen=True, slots=True)
class OwnTreeSettings:
    """What a file asks for."""

    directory: Path
    host: str
    port: int
    bounds: SessionBounds


def own_tree_settings(texts: Mapping[str, str]) -> OwnTreeSettings:
    """The settings of a file; CommandFailed where they are missing, wrong, or for an ensemble."""
    servers = [name for name in texts if name.startswith("server.")]
    if servers:
        raise CommandFailed(
            f"{', '.join(servers)}: an ensemble needs the real ZooKeeper, and so Java. "
            "Moldau's own tree serves one machine"
        )
    if "dataDir" not in texts:
        raise CommandFailed("dataDir is not set")
    tick_ms = _number(texts, "tickTime", _TICK_MS)
    return OwnTreeSettings(
        directory=Path(texts["dataDir"]),
        # Who can write here rules the cluster: without an address it is this machine alone.
        host=texts.get("clientPortAddress", LOOPBACK),
        port=_number(texts, "clientPort", 2181, most=_PORT_MAX),
        bounds=SessionBounds(
            _number(texts, "minSessionTimeout", 2 * tick_ms),
            _number(texts, "maxSessionTimeout", 20 * tick_ms),
        ),
    )


def serve_own_tree(settings: OwnTreeSettings) -> None:
    """Serve until a signal asks to stop."""
    try:
        settings.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        asyncio.run(_serve(settings))
    except StoreError as error:
        raise CommandFailed(str(error)) from error


async def _serve(settings: OwnTreeSettings) -> None:
    sockets = bind_host(settings.host, settings.port, listen)
    options = ServerOptions(str(settings.directory / TREE_FILE), settings.bounds)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serving_tree(options, sockets, SystemClock()) as server:
        port = sockets[0].getsockname()[1]
        _log.info("the tree in %s is served on %s:%d", settings.directory, settings.host, port)
        server.failed.add_done_callback(lambda _: stop.set())
        await stop.wait()
        if server.failed.done():
            raise StoreError(f"{options.path} cannot be written any more")


def _number(texts: Mapping[str, str], name: str, default: int, *, most: int = 2**31 - 1) -> int:
    text = texts.get(name, str(default)).strip()
    if not text.isdecimal() or int(text) > most:
        raise CommandFailed(f"{name}={text}: a whole number up to {most} is needed")
    return int(text)
