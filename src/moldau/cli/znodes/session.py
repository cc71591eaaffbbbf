"""A session with ZooKeeper for as long as a command runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from moldau.cli.terminal.failure import CommandFailed
from moldau.coordination.protection import Protection
from moldau.coordination.tree import SessionError, Tree
from moldau.runtime.java_options import java_properties
from moldau.security.zookeeper_login import find_login

_SESSION_MS = 30_000
_CONNECT_MS = 5_000
_REQUESTS_MAX = 100


@asynccontextmanager
async def zookeeper_session(servers: str) -> AsyncIterator[Tree]:
    """The nodes of an ensemble; ends the command if there is none."""
    # kazoo takes a while to load: only those who come here need it.
    from moldau.coordination.zookeeper import ZooKeeperTree  # noqa: PLC0415

    try:
        tree = await ZooKeeperTree.open(
            servers,
            session_timeout_ms=_SESSION_MS,
            connect_timeout_ms=_CONNECT_MS,
            requests_max=_REQUESTS_MAX,
            protection=Protection(begin_login=find_login(None, java_properties())),
        )
    except SessionError as error:
        raise CommandFailed(
            f"{error}; a broker without ZooKeeper keeps all in its own store: "
            "use --bootstrap-server localhost:9092 instead"
        ) from error
    try:
        yield tree
    finally:
        await tree.close()
