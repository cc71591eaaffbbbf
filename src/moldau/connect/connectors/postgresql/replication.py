"""The stream of the log: a connection that receives, and a thread that keeps it alive.

The server ends a connection that says nothing for a minute, also while the connector waits for
Kafka or is paused; so a thread of its own repeats what is confirmed. Both use the connection under
one lock, and nothing waits for the network while it has it.
"""

import logging
import select
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from moldau.connect.connectors.postgresql.catalog import quoted_name
from moldau.connect.connectors.postgresql.frames import (
    KeepAlive,
    LogData,
    lsn_text,
    parse_frame,
    status_update,
)
from moldau.connect.connectors.postgresql.server import DatabaseServer
from moldau.connect.errors import RetriableConnectError

_log = logging.getLogger(__name__)

_IN_USE = "55006"
_FRAMES_MAX, _FRAMES_MAX_BYTES = 1000, 8 * 2**20
_CONFIRM_S = 1.0
_THREAD_DEADLINE_S = 5


class SlotInUseError(RetriableConnectError):
    """Another connection reads the slot."""


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """What is streamed."""

    slot: str
    publication: str
    has_messages: bool = True
    update_interval_s: float = 10.0


class ReplicationStream:
    """From `start_lsn` on, or from what the slot has confirmed if that is later."""

    def __init__(self, server: DatabaseServer, settings: StreamSettings, start_lsn: int) -> None:
        self._server = server
        self._settings = settings
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._flushed_lsn, self._confirmed_lsn, self._confirmed_at_s = 0, 0, time.monotonic()
        self._connection = server.replicate(settings.slot)
        try:
            self._start(start_lsn)
        except BaseException:
            self._connection.close()
            raise
        self._thread = threading.Thread(
            target=self._keep_alive, name=f"slot-{settings.slot}", daemon=True
        )
        self._thread.start()

    def _start(self, start_lsn: int) -> None:
        name = self._settings.publication.replace("'", "''").replace('"', '""')
        options = f'"proto_version" \'1\', "publication_names" \'"{name}"\''
        if self._settings.has_messages and self._connection.info.server_version >= 140000:
            options += ", \"messages\" 'true'"
        statement = (
            f"START_REPLICATION SLOT {quoted_name(self._settings.slot)} LOGICAL "
            f"{lsn_text(start_lsn)} ({options})"
        )
        try:
            result = self._connection.pgconn.exec_(statement.encode())
        except psycopg.Error as error:
            raise self._server.failure(error) from error
        if result.status == psycopg.pq.ExecStatus.COPY_BOTH:
            return
        text = result.error_message.decode(errors="replace").strip()
        code = (result.error_field(psycopg.pq.DiagnosticField.SQLSTATE) or b"").decode()
        if code == _IN_USE:
            raise SlotInUseError(text)
        raise RetriableConnectError(f"PostgreSQL at {self._server.name}: {text}")

    def receive(self, timeout_s: float) -> Sequence[LogData | KeepAlive]:
        """What has come, or comes within a time; a limited portion of it."""
        try:
            found = self._received()
            if not found:
                self._confirm_if_due()
                select.select([self._connection.pgconn.socket], [], [], timeout_s)
                found = self._received()
        except (psycopg.Error, OSError, ValueError) as error:
            raise RetriableConnectError(
                f"PostgreSQL at {self._server.name}: the stream of the log has ended: "
                f"{str(error).strip()}"
            ) from error
        return found

    def confirm(self, lsn: int) -> None:
        """Everything before this is stored; the server gets it soon."""
        self._flushed_lsn = max(self._flushed_lsn, lsn)

    def close(self) -> None:
        """Confirm the last of it, and hang up."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._thread.join(_THREAD_DEADLINE_S)
        try:
            self._confirm()
        except psycopg.Error as error:
            _log.debug("slot %s: %s", self._settings.slot, error)
        self._connection.close()

    def _received(self) -> list[LogData | KeepAlive]:
        found: list[LogData | KeepAlive] = []
        size, wire = 0, self._connection.pgconn
        with self._lock:
            wire.consume_input()
            while len(found) < _FRAMES_MAX and size < _FRAMES_MAX_BYTES:
                count, data = wire.get_copy_data(1)
                if count == 0:
                    break
                if count < 0:
                    result = wire.get_result()
                    text = b"" if result is None else result.error_message
                    raise psycopg.OperationalError(text.decode(errors="replace") or "no more data")
                found.append(parse_frame(bytes(data)))
                size += count
        if any(isinstance(each, KeepAlive) and each.wants_reply for each in found):
            self._confirm()
        return found

    def _confirm_if_due(self) -> None:
        is_new = self._flushed_lsn > self._confirmed_lsn
        if is_new and time.monotonic() - self._confirmed_at_s >= _CONFIRM_S:
            self._confirm()

    def _confirm(self) -> None:
        lsn = self._flushed_lsn
        with self._lock:
            self._connection.pgconn.put_copy_data(status_update(lsn, time.time_ns() // 1000))
            self._connection.pgconn.flush()
        self._confirmed_lsn, self._confirmed_at_s = lsn, time.monotonic()

    def _keep_alive(self) -> None:
        while not self._closed.wait(self._settings.update_interval_s):
            try:
                self._confirm()
            except psycopg.Error as error:
                # `receive` notices it as well, and raises it.
                _log.debug("slot %s: %s", self._settings.slot, error)
                return
