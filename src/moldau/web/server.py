"""Serves an application by uvicorn, in an event loop that others use as well."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import uvicorn

from moldau.config.listeners import LOOPBACK
from moldau.net.listener import bind_host, listen

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_REQUESTS_AT_ONCE_MAX = 1000
_KEEP_ALIVE_S = 75
_SHUTDOWN_S = 5
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - only if it is asked for
_LOOPBACK_HOSTS = (LOOPBACK, "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Binding:
    """Where to listen, and how."""

    port: int
    host: str = LOOPBACK
    certificate: str | None = None
    """A file in PEM; with one, clients have to speak TLS."""
    key: str | None = None
    """Its key, unless that is in the same file."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        return self.host in _LOOPBACK_HOSTS

    def url(self, port: int) -> str:
        """How this machine reaches it, once it is known on which port it listens."""
        scheme = "http" if self.certificate is None else "https"
        host = socket.gethostname() if self.host in _EVERYWHERE else self.host
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


@asynccontextmanager
async def serving(app: "ASGIApp", binding: Binding) -> AsyncIterator[str]:
    """Serve until the block ends, and yield the address; OSError if it cannot be listened on."""
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        ws="none",
        server_header=False,
        proxy_headers=False,  # which would take the word of a header for where requests are from
        date_header=True,
        limit_concurrency=_REQUESTS_AT_ONCE_MAX,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_SHUTDOWN_S,
        ssl_certfile=binding.certificate,
        ssl_keyfile=binding.key,
    )
    _load(config, binding)
    host = "" if binding.host in _EVERYWHERE else binding.host
    sockets = bind_host(host, binding.port, listen)
    server = _Server(config)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(server.serve(sockets=sockets))
            try:
                await server.is_up.wait()
                yield binding.url(sockets[0].getsockname()[1])
            finally:
                server.should_exit = True
    finally:
        for each in sockets:  # which a server that is cancelled leaves open
            each.close()


def _load(config: uvicorn.Config, binding: Binding) -> None:
    """A certificate that cannot be read ends the start, not the first request."""
    try:
        config.load()
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"{binding.certificate}: {reason}") from error


class _Server(uvicorn.Server):
    """Leaves signals to the command that it is a part of."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield
