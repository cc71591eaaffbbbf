"""A session with ZooKeeper for as long as a command runs."""

import logging
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields

from moldau.cli.terminal.client_settings import read_file
from moldau.cli.terminal.failure import CommandFailed
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.protection import Protection
from moldau.coordination.tree import (
    BadVersion,
    NodeExists,
    NoNode,
    NotAllowed,
    NotEmpty,
    SessionError,
    Tree,
    TreeError,
)
from moldau.runtime.java_options import java_properties
from moldau.security.tls import TlsSettings, client_context
from moldau.security.zookeeper_login import find_login

_SESSION_MS = 30_000
_CONNECT_MS = 5_000
_REQUESTS_MAX = 100
REFUSALS = (SessionError, TreeError, NodeDataError)


@asynccontextmanager
async def zookeeper_session(servers: str, tls_file: str = "") -> AsyncIterator[Tree]:
    """The nodes of an ensemble; ends the command if there is none.

    `tls_file` is that of `--zk-tls-config-file`.
    """
    try:
        tree = await open_session(servers, read_file(tls_file))
    except SessionError as error:
        raise CommandFailed(
            f"{error}; a broker without ZooKeeper keeps all in its own store: "
            "use --bootstrap-server localhost:9092 instead"
        ) from error
    try:
        yield tree
    except REFUSALS as error:
        raise CommandFailed(f"ZooKeeper at {servers}: {refusal(error)}") from error
    finally:
        await tree.close()


def refusal(error: Exception) -> str:
    """Why one of REFUSALS came instead of an answer, in words."""
    match error:
        case NoNode():
            return f"there is no node {error.path}: is it Kafka's, and the path behind / right?"
        case NotAllowed():
            return f"the login may not touch node {error.path}; KAFKA_OPTS names another"
        case NodeExists():
            return f"node {error.path} exists already"
        case NotEmpty():
            return f"node {error.path} has children"
        case BadVersion():
            return f"node {error.path} was changed by somebody else; try again"
        case NodeDataError():
            return f"failed to parse the data of a node: {error}"
        case _:
            return str(error)


async def open_session(servers: str, settings: Mapping[str, str]) -> Tree:
    """Begin a session, by TLS if a broker's settings say so; SessionError if there is none."""
    # kazoo takes a while to load: only commands that come here need it.
    from moldau.coordination.zookeeper import ZooKeeperTree  # noqa: PLC0415

    # It logs every try; their outcome is printed once, at the end.
    logging.getLogger("kazoo").setLevel(logging.CRITICAL + 1)
    return await ZooKeeperTree.open(
        servers,
        session_timeout_ms=_SESSION_MS,
        connect_timeout_ms=_CONNECT_MS,
        requests_max=_REQUESTS_MAX,
        protection=Protection(
            tls=tls_of(settings), begin_login=find_login(None, java_properties())
        ),
    )


def tls_of(settings: Mapping[str, str]) -> ssl.SSLContext | None:
    """How a session is encrypted by a broker's settings, if it is."""
    if settings.get("zookeeper.ssl.client.enable", "").lower() != "true":
        return None
    names = {
        f"zookeeper.ssl.{each.name.replace('_', '.')}": each.name for each in fields(TlsSettings)
    }
    known = {names[name]: value for name, value in settings.items() if name in names}
    return client_context(TlsSettings(**known))
