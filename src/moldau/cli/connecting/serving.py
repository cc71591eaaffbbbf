"""Runs a Connect worker until it is asked to stop."""

import asyncio
import logging
import signal
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from moldau.cli.terminal.failure import CommandFailed
from moldau.errors import KafkaError
from moldau.runtime.garbage import owned_collector

if TYPE_CHECKING:
    from moldau.web.users import Users

_log = logging.getLogger(__name__)

Connectors = Mapping[str, Mapping[str, str]]


def serve_worker(
    properties: Mapping[str, str], connectors: Connectors | None = None, users: str | None = None
) -> None:
    """Serve; with connectors these and no others run, as in Kafka's standalone mode."""
    try:
        with owned_collector() as started:
            asyncio.run(_serve(properties, connectors, users, started))
    except* CommandFailed as errors:
        raise CommandFailed(_first(errors)) from None
    except* (KafkaError, OSError, RuntimeError, ValueError) as errors:
        raise CommandFailed(f"moldau connect: {_first(errors)}") from None


async def _serve(
    properties: Mapping[str, str],
    connectors: Connectors | None,
    users: str | None,
    started: Callable[[], None],
) -> None:
    try:
        from moldau.connect.errors import ConnectError  # noqa: PLC0415 - --help does without it
        from moldau.connect.worker.running import running_worker  # noqa: PLC0415
        from moldau.connect.worker.settings import WorkerSettings  # noqa: PLC0415
        from moldau.web.server import Binding  # noqa: PLC0415
    except ImportError as error:
        raise CommandFailed(f"{error}: pip install 'moldau[connect]'") from error

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    settings = WorkerSettings(properties)
    try:
        binding = Binding(settings.port, settings.host, settings.certificate)
        known = _users(users or settings.users_file)
        if known is None and not binding.is_loopback:
            _log.warning("everyone who reaches %s may change connectors: set users", binding.host)
        async with running_worker(settings, binding, known) as (url, worker):
            _log.info("the worker is at %s", url)
            if connectors is not None:
                await worker.run_only(connectors)
            started()
            await stop.wait()
    except* ConnectError as errors:
        raise CommandFailed(f"moldau connect: {_first(errors)}") from None


def _users(path: str | None) -> "Users | None":
    from moldau.web.users import UserFileError, Users  # noqa: PLC0415 - --help does without it

    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            return Users(file)
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
    except UserFileError as error:
        raise CommandFailed(f"{path}: {error}") from error


def _first(errors: BaseExceptionGroup[BaseException]) -> str:
    found: BaseException = errors
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return (isinstance(found, OSError) and found.strerror) or str(found)
