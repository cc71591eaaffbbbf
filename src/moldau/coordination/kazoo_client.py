"""kazoo's client, made to work for an event loop: its callbacks, its connections, its login."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress

from kazoo.client import KazooClient, TransactionRequest
from kazoo.exceptions import (
    AuthFailedError,
    ConnectionDropped,
    KazooException,
    NodeExistsError,
)
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.connection import ConnectionHandler
from kazoo.protocol.serialization import SASL
from kazoo.security import ACL, CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE

from moldau.config.values import config_error
from moldau.coordination.kazoo_log import kazoo_logger
from moldau.coordination.protection import Access, Login, Protection, access_of
from moldau.coordination.tree import ConnectionLost, Create
from moldau.errors import KafkaError

# A session lasts for seconds: waiting longer than this between two attempts would lose it.
_RECONNECT = {"max_tries": -1, "delay": 0.1, "backoff": 2, "max_delay": 1.0}
_ACLS: dict[Access, list[ACL]] = {
    Access.OPEN: OPEN_ACL_UNSAFE,
    Access.READABLE: CREATOR_ALL_ACL + READ_ACL_UNSAFE,
    Access.SECRET: CREATOR_ALL_ACL,
}


def acls_of(path: str, protection: Protection) -> list[ACL]:
    """What a new node is protected by."""
    return _ACLS[access_of(path, protection)]


def add_create(transaction: TransactionRequest, operation: Create, acls: list[ACL]) -> None:
    """Have a transaction create a node; kazoo knows of no data only outside of transactions."""
    transaction.create(
        operation.path,
        operation.data or b"",
        acls,
        ephemeral=operation.is_ephemeral,
        sequence=operation.is_sequential,
    )
    transaction.operations[-1] = transaction.operations[-1]._replace(data=operation.data)


class Inbox:
    """What kazoo takes for a queue of functions to run: runs them on the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread_id = threading.get_ident()

    def put(self, function: Callable[[], None]) -> None:
        # On the loop at once: by another round through it others could overtake.
        if threading.get_ident() == self._thread_id:
            function()
        else:
            self._loop.call_soon_threadsafe(function)


class LoopClient(KazooClient):  # type: ignore[misc] # kazoo has no types
    """A client whose results, watches and states are delivered on the event loop."""

    def __init__(
        self, hosts: str, inbox: Inbox, protection: Protection, *, session_timeout_s: float
    ) -> None:
        try:
            super().__init__(
                hosts,
                timeout=session_timeout_s,
                handler=_LoopHandler(inbox, protection.tls),
                connection_retry=_RECONNECT,
                logger=kazoo_logger(),
            )
        except ValueError as error:
            raise config_error(f"ZooKeeper at {hosts}: host:port is expected: {error}") from error
        self._servers = hosts
        if protection.begin_login is not None:
            # kazoo's own way to log in needs one more package.
            self._connection = _LoginConnection(self, protection.begin_login)

    def connect(self, base: str, acls: list[ACL], timeout_s: float) -> None:
        """Begin the session, in a thread; `base` is the path that all nodes are below."""
        try:
            self.start(timeout_s)
            # kazoo is connected before it has logged in; the first answer comes after that.
            self.exists("/")
        except self.handler.timeout_exception as error:
            reason = self._failure() or f"no answer within {timeout_s:g} s"
            message = f"Failed to connect to ZooKeeper at {self._servers}: {reason}"
            raise ConnectionLost(message) from error
        except AuthFailedError as error:
            self.end()
            message = f"ZooKeeper at {self._servers} refuses the login: wrong user or password?"
            raise ConnectionLost(message) from error
        if base.strip("/"):
            self._create_base(base.rstrip("/"), acls)
            self.chroot = base.rstrip("/")

    def _create_base(self, base: str, acls: list[ACL]) -> None:
        """Like kazoo's `ensure_path`, but without data, as Apache's brokers do it."""
        if self.exists(base) is not None:
            return
        parent = base.rpartition("/")[0]
        if parent:
            self._create_base(parent, acls)
        with suppress(NodeExistsError):
            self.create(base, None, acls)

    def _failure(self) -> str | None:
        """Why there was no connection; kazoo tries again and again, and only logs it."""
        for host, port in self.hosts:
            try:
                socket.getaddrinfo(host, port)
            except OSError as error:
                return f"{host}: {error.strerror}"
        if self.handler.failure is None:
            return None
        reason = self.handler.failure.strerror or str(self.handler.failure)
        return reason[:1].lower() + reason[1:]

    def end(self) -> None:
        """End the session, in a thread."""
        self.stop()
        self.close()


class _LoopHandler(SequentialThreadingHandler):  # type: ignore[misc] # kazoo has no types
    """Runs kazoo's callbacks on the event loop instead of two worker threads.

    It also makes the connections: kazoo's own way to TLS knows fewer settings.
    """

    def __init__(self, inbox: Inbox, tls: ssl.SSLContext | None) -> None:
        super().__init__()
        self.callback_queue = self.completion_queue = inbox
        self._tls = tls
        self.failure: OSError | None = None
        """Why the latest connection could not be made."""

    def create_connection(
        self, address: tuple[str, int], hostname: str, timeout: float, **_options: object
    ) -> socket.socket:
        try:
            connection = self._connect(address, hostname, timeout)
        except OSError as error:
            self.failure = error
            raise
        self.failure = None
        return connection

    def _connect(self, address: tuple[str, int], hostname: str, timeout: float) -> socket.socket:
        connection = socket.create_connection(address, timeout)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._tls is None:
            return connection
        try:
            return self._tls.wrap_socket(connection, server_hostname=hostname)
        except OSError:
            connection.close()
            raise

    def start(self) -> None:
        self._running = True

    def stop(self) -> None:
        self._running = False


class _LoginConnection(ConnectionHandler):  # type: ignore[misc] # kazoo has no types
    """A connection that logs in by SASL before anything else."""

    def __init__(self, client: LoopClient, begin_login: Callable[[], Login]) -> None:
        super().__init__(client, client._conn_retry.copy(), logger=client.logger, sasl_options={})
        self._begin_login = begin_login

    def _authenticate_with_sasl(self, _host: str, timeout: float) -> None:
        login = self._begin_login()
        token: bytes | None = login.begin()
        request_number = 0
        try:
            while token is not None:
                request_number += 1
                token = login.answer(self._exchange(token, request_number, timeout))
        except KafkaError as error:
            raise AuthFailedError(str(error)) from error
        except ConnectionDropped as error:
            # That is how ZooKeeper says no.
            raise AuthFailedError("ZooKeeper hung up at the login") from error

    def _exchange(self, token: bytes, request_number: int, timeout: float) -> bytes:
        self._submit(SASL(token), timeout, request_number)
        header, buffer, offset = self._read_header(timeout)
        if header.err:
            raise AuthFailedError(f"error {header.err} at the login")
        if header.xid != request_number:
            raise KazooException(f"an answer to {header.xid}, not {request_number}")
        challenge: bytes = SASL.deserialize(buffer, offset)[0]
        return challenge
