"""How a capture begins: with its tables, or where its offset says, if the log still has that."""

import logging
import time
from dataclasses import dataclass

from moldau.connect.connector import Offset
from moldau.connect.connectors.capture.settings import READS_FIRST
from moldau.connect.connectors.mariadb.capture import BinlogCapture
from moldau.connect.connectors.mariadb.initial_read import TablesRead
from moldau.connect.connectors.mariadb.position import BinlogOffset, BinlogPosition, stored_offset
from moldau.connect.connectors.mariadb.snapshot import ConsistentRead, snapshot_position
from moldau.connect.connectors.mariadb.stream import BinlogStream, LogLostError
from moldau.connect.errors import ConfigError, RetriableConnectError

_log = logging.getLogger(__name__)

_TRIAL_DEADLINE_S = 60
_HEARTBEAT_S = 0.2


@dataclass(frozen=True, slots=True)
class BinlogStart:
    """What comes first, and where the stream goes on after it."""

    read: TablesRead | None
    position: BinlogPosition
    streams: bool


def begin_capture(capture: BinlogCapture, offset: Offset | None) -> BinlogStart:
    """ConfigError if changes are lost, and nobody has allowed to begin anew."""
    mode = capture.settings.snapshot_mode
    stored = _still_there(capture, stored_offset(offset) if offset else None)
    is_complete = stored is not None and stored.is_snapshot_complete
    wants_read = mode == "always" or (mode in READS_FIRST and not is_complete)
    streams = mode != "initial_only"
    if not wants_read:
        position = _now(capture) if stored is None else stored.position
        return BinlogStart(None, position, streams)
    snapshot = ConsistentRead(capture.server, capture.facts, capture.settings.locking)
    position = snapshot.position
    if stored is not None and not is_complete:
        # Rows that a read before this one gave may be gone since: then all changes must follow it.
        position = stored.position
    try:
        return BinlogStart(TablesRead(capture, snapshot, position), position, streams)
    except BaseException:
        snapshot.close()
        raise


def _now(capture: BinlogCapture) -> BinlogPosition:
    return snapshot_position(capture.server, capture.connection, capture.facts)


def _still_there(capture: BinlogCapture, stored: BinlogOffset | None) -> BinlogOffset | None:
    """What was stored, if the server can go on from there; ConfigError if changes are lost."""
    mode = capture.settings.snapshot_mode
    if stored is None or mode in ("always", "initial_only"):
        return stored
    try:
        _try(capture, stored.position)
    except LogLostError as error:
        if mode == "when_needed" or not stored.is_snapshot_complete:
            _log.warning("%s: the tables are read again; deletions until then are lost", error)
            return None
        raise ConfigError(gone_message(stored.position, error)) from error
    return stored


def _try(capture: BinlogCapture, position: BinlogPosition) -> None:
    """Have the server begin to send: it refuses at once what it has not."""
    stream = BinlogStream(capture.server, position, _HEARTBEAT_S)
    deadline = time.monotonic() + _TRIAL_DEADLINE_S
    try:
        while not stream.receive(_HEARTBEAT_S):
            if time.monotonic() > deadline:
                raise RetriableConnectError(
                    f"MariaDB at {capture.server.name} sends no log within {_TRIAL_DEADLINE_S} s"
                )
    finally:
        stream.close()


def gone_message(position: BinlogPosition, error: LogLostError) -> str:
    """What happened, and what to do."""
    place = f"{position.file}:{position.pos}"
    if position.gtids is not None:
        place += f" (GTID {position.gtids.text})"
    return (
        f"the server has no longer the log from {place} on: changes that were not read are lost, "
        "and a new snapshot is needed. Stop the connector, DELETE its offsets and start it again, "
        "or set snapshot.mode=when_needed, which does so by itself. binlog_expire_logs_seconds "
        f"says how long the server keeps its log. It said: {error}"
    )
