"""The replication slot: it has the server keep the log until it was read, and no longer.

States: there, in use by another connection, lost (the server threw away what it was to keep),
gone. A slot that is lost or gone has lost changes; only a new snapshot makes up for them.
"""

import logging
import select
import time
from dataclasses import dataclass

import psycopg

from moldau.connect.connectors.postgresql.catalog import quoted_name
from moldau.connect.connectors.postgresql.frames import lsn_of
from moldau.connect.connectors.postgresql.server import Connection, DatabaseServer
from moldau.connect.errors import ConfigError, RetriableConnectError

_log = logging.getLogger(__name__)

_STATE = """
SELECT active_pid, wal_status, confirmed_flush_lsn::text, safe_wal_size, plugin, database,
  pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn()
    ELSE pg_current_wal_lsn() END, restart_lsn)::bigint
FROM pg_replication_slots WHERE slot_name = %s
"""
_STATUSES = ("reserved", "extended", "unreserved", "lost")
_WARNED_BYTES = 2**30
_CREATE_DEADLINE_S = 60
_STEP_S = 0.5


@dataclass(frozen=True, slots=True)
class SlotState:
    """As the server shows it."""

    active_pid: int | None
    wal_status: str
    """`reserved`, `extended`, `unreserved` or `lost`."""
    confirmed_lsn: int | None
    safe_bytes: int | None
    """How much more may be written before it may be lost; None for without end."""
    retained_bytes: int
    """How much of the log the server keeps for it."""

    @property
    def is_lost(self) -> bool:
        """Whether changes are gone."""
        return self.wal_status == "lost"

    def measurements(self) -> dict[str, float]:
        """For metrics; the status is a number that grows as it gets worse."""
        found: dict[str, float] = {
            "slot_retained_bytes": self.retained_bytes,
            "slot_wal_status": _STATUSES.index(self.wal_status),
        }
        if self.safe_bytes is not None:
            found["slot_safe_bytes"] = self.safe_bytes
        return found

    def warning(self, name: str) -> str | None:
        """What a person should know, if anything."""
        if self.wal_status in ("reserved", "extended") and self.retained_bytes < _WARNED_BYTES:
            return None
        safe = "" if self.safe_bytes is None else f", {self.safe_bytes} more before it is lost"
        return (
            f"slot {name} keeps {self.retained_bytes} bytes of the log, wal_status "
            f"{self.wal_status}{safe}: the connector is behind, or a transaction is open for long"
        )


@dataclass(frozen=True, slots=True)
class CreatedSlot:
    """A new slot; the snapshot can be taken over while the connection that made it is idle."""

    consistent_lsn: int
    snapshot: str


def slot_state(server: DatabaseServer, connection: Connection, name: str) -> SlotState | None:
    """None if there is none; ConfigError if it is not for this connector."""
    rows = server.rows(connection, _STATE, [name])
    if not rows:
        return None
    pid, status, confirmed, safe, plugin, database, retained = rows[0]
    if plugin != "pgoutput" or database != server.database:
        raise ConfigError(
            f"slot.name: slot {name} belongs to plugin {plugin} and database {database}, not to "
            f"pgoutput and {server.database}: choose another name"
        )
    return SlotState(
        None if pid is None else int(str(pid)),
        str(status or "reserved"),
        None if confirmed is None else lsn_of(str(confirmed)),
        None if safe is None else int(str(safe)),
        int(str(retained or 0)),
    )


def create_slot(server: DatabaseServer, connection: Connection, name: str) -> CreatedSlot:
    """Make a slot on a replication connection.

    It begins where no transaction is open that began before, so it waits for those to end.
    """
    statement = f"CREATE_REPLICATION_SLOT {quoted_name(name)} LOGICAL pgoutput EXPORT_SNAPSHOT"
    rows = _within_deadline(server, connection, statement, name)
    _log.info("slot %s was made at %s", name, rows[1])
    return CreatedSlot(lsn_of(rows[1]), rows[2])


def _within_deadline(
    server: DatabaseServer, connection: Connection, statement: str, name: str
) -> list[str]:
    wire, deadline = connection.pgconn, time.monotonic() + _CREATE_DEADLINE_S
    try:
        wire.send_query(statement.encode())
        wire.flush()
        while wire.is_busy():
            if time.monotonic() > deadline:
                connection.close()
                raise RetriableConnectError(
                    f"slot {name} could not be made within {_CREATE_DEADLINE_S} s: transactions "
                    "that began before it are still open; see pg_stat_activity"
                )
            select.select([wire.socket], [], [], _STEP_S)
            wire.consume_input()
        found = None
        while (result := wire.get_result()) is not None:
            found = result
    except psycopg.Error as error:
        raise server.failure(error) from error
    assert found is not None, "a query has a result"
    if found.status != psycopg.pq.ExecStatus.TUPLES_OK:
        raise RetriableConnectError(
            f"PostgreSQL at {server.name}: {found.error_message.decode(errors='replace').strip()}"
        )
    return [(found.get_value(0, column) or b"").decode() for column in range(found.nfields)]


def drop_slot(server: DatabaseServer, connection: Connection, name: str) -> None:
    """For one that is lost."""
    server.rows(connection, "SELECT pg_drop_replication_slot(%s)", [name])
    _log.warning("slot %s was lost, and dropped", name)


def gone_message(name: str, state: SlotState | None) -> str:
    """What happened, and what to do."""
    how = "is gone" if state is None else "is lost (wal_status lost)"
    drop = "" if state is None else f"Drop it by SELECT pg_drop_replication_slot('{name}'). "
    return (
        f"replication slot {name} {how}, though the connector has an offset: the server threw "
        f"away changes that were not read, and a new snapshot is needed. {drop}"
        "Stop the connector, DELETE its offsets and start it again, or set "
        "snapshot.mode=when_needed, which does so by itself"
    )
