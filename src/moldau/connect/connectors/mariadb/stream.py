"""The stream of the binary log, by mysql-replication: a thread receives, and a queue has a limit.

mysql-replication connects again by itself when a connection breaks, from where it believes to be.
That would give changes twice, so it gets no second connection; the connector begins anew.
"""

import queue
import threading
from collections.abc import Sequence

import pymysql
from pymysqlreplication import BinLogStreamReader

from moldau.connect.connectors.mariadb.event_reading import NEEDED, EventReading
from moldau.connect.connectors.mariadb.events import Idle, LogEvent
from moldau.connect.connectors.mariadb.gtids import MySqlGtids
from moldau.connect.connectors.mariadb.position import BinlogPosition
from moldau.connect.connectors.mariadb.server import MariaDbServer
from moldau.connect.errors import ConfigError, ConnectError, RetriableConnectError

_EVENTS_MAX = 256
_CONNECTIONS = 2  # one for the log, and one for the library's questions
_LOST = 1236
_THREAD_DEADLINE_S = 5
_HEARTBEAT_MIN_S = 0.1
_STEP_S = 0.5


class LogLostError(ConfigError):
    """The server has no longer what follows a position."""


class BinlogStream:
    """From a position on."""

    def __init__(self, server: MariaDbServer, position: BinlogPosition, heartbeat_s: float) -> None:
        self._server = server
        self._events: queue.Queue[LogEvent] = queue.Queue(_EVENTS_MAX)
        self._closed = threading.Event()
        self._error: ConnectError | None = None
        self._connections = 0
        self._reader = BinLogStreamReader(
            self._arguments(),
            server_id=server.reader_id,
            blocking=True,
            only_events=NEEDED,
            filter_non_implemented_events=False,
            slave_heartbeat=max(heartbeat_s, _HEARTBEAT_MIN_S),
            pymysql_wrapper=self._connect,
            enable_logging=False,
            **_start(position),
        )
        self._reading = EventReading()
        self._thread = threading.Thread(
            target=self._receive, name=f"binlog-{server.reader_id}", daemon=True
        )
        self._thread.start()

    def _arguments(self) -> dict[str, object]:
        # The library reads names and labels of its own questions as text.
        kept = {
            name: value
            for name, value in self._server.arguments.items()
            if name not in ("conv", "use_unicode")
        }
        # A log that is not read for hours, since Kafka is away, is not given up.
        return {**kept, "init_command": "SET SESSION net_write_timeout = 28800"}

    def _connect(self, **arguments: object) -> object:
        self._connections += 1
        if self._connections > _CONNECTIONS:
            raise self._ended()
        if "db" in arguments:
            arguments["database"] = arguments.pop("db")  # as PyMySQL calls it by now
        return pymysql.connect(**arguments)

    def receive(self, timeout_s: float) -> Sequence[LogEvent]:
        """What has come, or comes within a time; a limited portion of it."""
        found: list[LogEvent] = []
        try:
            found.append(self._events.get(block=timeout_s > 0, timeout=timeout_s or None))
            while len(found) < _EVENTS_MAX:
                found.append(self._events.get_nowait())
        except queue.Empty:
            # What came before it failed is given first.
            if not found and self._error is not None:
                raise self._error from None
        return found

    def close(self) -> None:
        """Hang up; the thread notices with the server's next heartbeat."""
        self._closed.set()
        self._thread.join(_THREAD_DEADLINE_S)

    def _receive(self) -> None:
        try:
            while not self._closed.is_set():
                event = self._reader.fetchone()
                if event is None:
                    self._error = self._ended()
                    return
                for each in self._reading.read(event):
                    self._put(each)
        except ConnectError as error:
            self._error = error
        except (pymysql.Error, OSError) as error:
            self._error = self._failure(error)
        except Exception as error:  # noqa: BLE001 - the thread's top frame: `receive` raises it
            reason = f"{type(error).__name__}: {error}"
            self._error = ConnectError(f"MariaDB at {self._server.name}: the log: {reason}")
        finally:
            self._reader.close()

    def _put(self, event: LogEvent) -> None:
        if isinstance(event, Idle) and not self._events.empty():
            return
        while not self._closed.is_set():
            try:
                self._events.put(event, timeout=_STEP_S)
            except queue.Full:
                continue
            return

    def _ended(self) -> ConnectError:
        return RetriableConnectError(
            f"MariaDB at {self._server.name}: the stream of the log has ended"
        )

    def _failure(self, error: Exception) -> ConnectError:
        if isinstance(error, pymysql.Error) and error.args[:1] == (_LOST,):
            return LogLostError(str(error.args[1]))
        return self._server.failure(error)


def _start(position: BinlogPosition) -> dict[str, object]:
    if position.gtids is not None:
        is_mariadb = not isinstance(position.gtids, MySqlGtids)
        return {"auto_position": position.gtids.text, "is_mariadb": is_mariadb}
    return {"log_file": position.file, "log_pos": position.pos, "resume_stream": True}
