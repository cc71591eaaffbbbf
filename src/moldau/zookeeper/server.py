"""Serves a tree to many clients, each with a session.

Nodes are kept in memory, on the event loop; a thread makes what has changed durable. No answer,
and no word of a change, leaves before everything that it could have seen is durable, and all leave
in the order in which requests came.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from moldau.coordination.durable_line import DurableLine
from moldau.coordination.journal import StoreError
from moldau.coordination.nodes import Nodes, TreeTransaction
from moldau.coordination.tree import NO_SESSION, WatchEvent
from moldau.coordination.writer import JournalWriter, Stored
from moldau.runtime.clock import Clock
from moldau.zookeeper.connection import TreeConnection
from moldau.zookeeper.four_letters import Figures, answer_word
from moldau.zookeeper.jute import JuteReader, Malformed
from moldau.zookeeper.messages import (
    AUTH_XID,
    PASSWORD_BYTES,
    ConnectRequest,
    Err,
    Op,
    Refused,
    connect_answer,
    read_connect,
    reply,
)
from moldau.zookeeper.operations import op_of
from moldau.zookeeper.requests import Handled, Requests, TreeClient, new_client, with_own_nodes
from moldau.zookeeper.session_table import SessionBounds, SessionTable
from moldau.zookeeper.watch_table import WatchTable

_log = logging.getLogger(__name__)

TREE_FILE = "tree.sqlite"
"""Under which name a server keeps its nodes, in a directory that is its own or a cluster's."""
_CONNECTIONS_MAX = 1_000
_TICKS = 8
"""How often within the shortest timeout it is looked for sessions that have expired."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """What a server is started with."""

    path: str
    """The file with the nodes."""
    bounds: SessionBounds = field(default_factory=SessionBounds)


class TreeServer:
    """Owns the nodes, and everybody who uses them."""

    def __init__(
        self, options: ServerOptions, writer: JournalWriter, stored: Stored, clock: Clock
    ) -> None:
        self._bounds = options.bounds
        self._clock = clock
        self._line = DurableLine(writer)
        self._nodes = Nodes(with_own_nodes(stored.rows), last_zxid=stored.last_zxid)
        self._watches: WatchTable[TreeConnection] = WatchTable()
        self._requests = Requests(self._nodes, self._watches)
        self._sessions = SessionTable(
            stored.sessions, stored.session_id, now_ms=clock.monotonic_ms()
        )
        self._connections: dict[TreeConnection, None] = {}
        self._by_session: dict[int, TreeConnection] = {}
        self._received = self._sent = 0
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Has the error that ended the server."""
        writer.start(committed=self._line.committed, failed=self._fail)
        self._end_orphans(stored)

    # Connections

    def take_in(self, connection: TreeConnection) -> bool:
        """Whether there is room for one more."""
        if len(self._connections) >= _CONNECTIONS_MAX or self.failed.done():
            return False
        self._connections[connection] = None
        return True

    def let_go(self, connection: TreeConnection) -> None:
        """A connection is gone; its session may come back by another."""
        self._connections.pop(connection, None)
        self._watches.forget(connection)
        client = connection.client
        if client is not None and self._by_session.get(client.session_id) is connection:
            del self._by_session[client.session_id]

    def receive(self, connection: TreeConnection, frame: memoryview) -> None:
        """Handle a message; a client that sends what is none is disconnected."""
        self._received += 1
        try:
            if connection.client is None:
                self._connect(connection, read_connect(frame))
            else:
                self._request(connection, connection.client, JuteReader(frame))
        except Malformed as error:
            _log.warning("Closing client %s: failed to parse a request: %s", connection.host, error)
            connection.abort()

    def word(self, word: str) -> str | None:
        """The answer to four letters; None if they are something else."""
        return answer_word(word, self._figures)

    def _figures(self) -> Figures:
        count, ephemeral, data_bytes = self._nodes.counts()
        return Figures(
            zxid=self._nodes.last_zxid,
            nodes=count,
            ephemeral_nodes=ephemeral,
            data_bytes=data_bytes,
            watches=len(self._watches),
            watched_paths=self._watches.paths,
            sessions=len(self._sessions),
            connections=len(self._connections),
            received=self._received,
            sent=self._sent,
        )

    # Sessions

    def _connect(self, connection: TreeConnection, request: ConnectRequest) -> None:
        if request.last_zxid > self._nodes.last_zxid:
            _log.warning(
                "Refusing client %s: it has seen a later zxid than this server", connection.host
            )
            connection.abort()
            return
        now_ms, timeout_ms = self._clock.monotonic_ms(), self._bounds.within(request.timeout_ms)
        if request.session_id == 0:
            row = self._sessions.begin(timeout_ms, now_ms)
            begun = TreeTransaction(self._nodes.last_zxid, sessions={row.session_id: row})
            self._line.submit(begun)
            session_id, password = row.session_id, row.password
        else:
            session_id, password = request.session_id, request.password
            found = self._sessions.resume(session_id, password, timeout_ms, now_ms)
            if found is None:
                connection.send(connect_answer(request, 0, bytes(PASSWORD_BYTES), 0))
                connection.close()
                return
            earlier = self._by_session.get(session_id)
            if earlier is not None:
                earlier.abort()
        connection.client = new_client(session_id, connection.host, connection)
        self._by_session[session_id] = connection
        answer = connect_answer(request, session_id, password, timeout_ms)
        self._answer(connection, answer)

    def _end_session(self, session_id: int) -> list[tuple[TreeConnection, WatchEvent]]:
        transaction = self._nodes.end_session(session_id, now_ms=self._clock.now_ms())
        transaction.sessions[session_id] = None
        self._sessions.end(session_id)
        self._line.submit(transaction)
        return self._fired(transaction)

    def _end_orphans(self, stored: Stored) -> None:
        """Nodes of sessions that are not known, as a single broker's store has them."""
        known = {row.session_id for row in stored.sessions}
        for session_id in self._nodes.sessions():
            if session_id not in known:
                self._end_session(session_id)

    def expire(self) -> None:
        """End the sessions whose clients sent nothing for too long."""
        for session_id in self._sessions.expired(self._clock.monotonic_ms()):
            _log.info("session 0x%x has expired", session_id)
            self._end_silently(session_id)

    def end_owner(self, path: str) -> None:
        """End the session that an ephemeral node belongs to: its client is known to be dead."""
        if self._nodes.exists(path) is not None:
            owner = self._nodes.row(path).ephemeral_owner
            if owner != NO_SESSION:
                self._end_silently(owner)

    def _end_silently(self, session_id: int) -> None:
        fired = self._end_session(session_id)
        connection = self._by_session.get(session_id)
        self._line.stand(partial(self._leave, fired, connection, None), lambda: None)

    async def expire_in_time(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await asyncio.sleep(self._bounds.min_timeout_ms / 1000 / _TICKS)
            self.expire()

    # Requests

    def _request(
        self, connection: TreeConnection, client: TreeClient[TreeConnection], reader: JuteReader
    ) -> None:
        xid, number = reader.integer(), reader.integer()
        if client.session_id not in self._sessions:
            # It has ended, and its connection is about to: nothing may be left of it.
            self._answer(connection, reply(xid, self._nodes.last_zxid, Err.SESSION_EXPIRED))
            return
        self._sessions.touch(client.session_id, self._clock.monotonic_ms())
        if xid == AUTH_XID or number == Op.AUTH:
            self._prove(connection, client, reader)
            return
        if number == Op.CLOSE_SESSION:
            fired = self._end_session(client.session_id)
            answer = reply(xid, self._nodes.last_zxid, Err.OK)
            self._line.stand(partial(self._leave, fired, connection, answer), lambda: None)
            return
        try:
            op = op_of(number)
            outcome = (
                Handled()
                if op is Op.PING
                else self._requests.handle(client, op, reader, now_ms=self._clock.now_ms())
            )
        except Refused as error:
            outcome = Handled(error=error.code)
        self._finish(connection, xid, outcome)

    def _finish(self, connection: TreeConnection, xid: int, outcome: Handled) -> None:
        fired: list[tuple[TreeConnection, WatchEvent]] = [
            (connection, each) for each in outcome.events
        ]
        if outcome.transaction is not None:
            self._line.submit(outcome.transaction)
            fired += self._fired(outcome.transaction)
        body = b"" if outcome.error else outcome.body
        self._answer(connection, reply(xid, self._nodes.last_zxid, outcome.error, body), fired)

    def _prove(
        self, connection: TreeConnection, client: TreeClient[TreeConnection], reader: JuteReader
    ) -> None:
        zxid = self._nodes.last_zxid
        try:
            self._requests.prove(client, reader)
        except Refused as error:
            answer = reply(AUTH_XID, zxid, error.code)
            self._line.stand(partial(self._leave, [], connection, answer), lambda: None)
            return
        self._answer(connection, reply(AUTH_XID, zxid, Err.OK))

    def _fired(self, transaction: TreeTransaction) -> list[tuple[TreeConnection, WatchEvent]]:
        return [
            (watcher, event)
            for event in transaction.events
            for watcher in self._watches.take(event)
            if watcher.may_read(event.acls)
        ]

    def _answer(
        self,
        connection: TreeConnection,
        answer: bytes,
        fired: Sequence[tuple[TreeConnection, WatchEvent]] = (),
    ) -> None:
        connection.begin_request()

        def leave() -> None:
            self._notify(fired)
            self._sent += 1
            connection.send(answer)
            connection.end_request()

        self._line.stand(leave, connection.abort)

    def _leave(
        self,
        fired: Sequence[tuple[TreeConnection, WatchEvent]],
        connection: TreeConnection | None,
        answer: bytes | None,
    ) -> None:
        """Send the last answer of a connection, which ends with it."""
        self._notify(fired)
        if connection is not None:
            if answer is not None:
                connection.send(answer)
            connection.close()

    def _notify(self, fired: Sequence[tuple[TreeConnection, WatchEvent]]) -> None:
        for watcher, event in fired:
            watcher.notify(event)

    def _fail(self, error: Exception) -> None:
        _log.error("Failed to write the store, the server ends: %s", error)
        self._line.give_up()
        self.hang_up()
        if not self.failed.done():
            self.failed.set_exception(error)

    def hang_up(self) -> None:
        """End all connections; sessions are there when their clients come back."""
        for each in list(self._connections):
            each.abort()


@asynccontextmanager
async def serving_tree(
    options: ServerOptions, sockets: Sequence[socket.socket], clock: Clock
) -> AsyncIterator[TreeServer]:
    """Serve on these sockets until the block ends."""
    writer = JournalWriter(options.path)
    try:
        stored = await writer.open()
    except StoreError:
        for one in sockets:
            one.close()
        raise
    server = TreeServer(options, writer, stored, clock)
    loop = asyncio.get_running_loop()
    listening = [
        await loop.create_server(lambda: TreeConnection(server), sock=one) for one in sockets
    ]
    expiring = asyncio.create_task(server.expire_in_time())
    try:
        yield server
    finally:
        expiring.cancel()
        for each in listening:
            each.close()
        server.hang_up()
        await writer.close()
        if server.failed.done() and not server.failed.cancelled():
            server.failed.exception()  # seen: the owner of the server has got it
