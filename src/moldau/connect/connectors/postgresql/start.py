"""How a capture begins: with its tables, or where its offset says, if the slot still has that."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from moldau.connect.connector import Offset, ReaderLender
from moldau.connect.connectors.capture.settings import READS_FIRST
from moldau.connect.connectors.postgresql.capture import Capture
from moldau.connect.connectors.postgresql.initial_read import READERS, InitialRead, ReadFrom
from moldau.connect.connectors.postgresql.position import (
    LogPosition,
    StoredOffset,
    stored_offset,
    visible_transactions,
)
from moldau.connect.connectors.postgresql.publication import prepare_publication
from moldau.connect.connectors.postgresql.server import Connection
from moldau.connect.connectors.postgresql.shared_read import SharedRead, first_read
from moldau.connect.connectors.postgresql.slot import (
    CreatedSlot,
    SlotState,
    create_slot,
    drop_slot,
    gone_message,
    slot_state,
)
from moldau.connect.connectors.postgresql.snapshot import TableSnapshot
from moldau.connect.errors import ConfigError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CaptureStart:
    """What comes first, and where the stream goes on after it."""

    read: InitialRead | SharedRead | None
    position: LogPosition
    streams: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """Who lends readers for the tables, and how many there were before."""

    lender: ReaderLender | None
    former_readers: int


def begin_capture(
    capture: Capture, offset: Offset | None, lender: ReaderLender | None = None
) -> CaptureStart:
    """ConfigError if changes are lost, and nobody has allowed to begin anew."""
    mode, stored = capture.settings.snapshot_mode, None
    reading = Reading(lender, 0)
    if offset:
        stored = stored_offset(offset)
        reading = Reading(lender, int(str(offset.get(READERS, 0))))
    wants_read = mode == "always" or (mode in READS_FIRST and not _is_complete(stored))
    if mode == "initial_only":
        read = _later_read(capture, offset or {}, None, reading) if wants_read else None
        return CaptureStart(read, LogPosition(), streams=False)
    slot, is_lost = _usable_slot(capture, stored)
    if is_lost:
        wants_read, stored, offset = True, None, None
    prepare_publication(capture.server, capture.connection, capture.publication, capture.tables())
    if slot is None:
        return _with_new_slot(capture, reading, wants_read=wants_read)
    position = LogPosition() if stored is None else stored.position
    if not wants_read:
        return CaptureStart(None, position, streams=True)
    # Rows that a read before this one gave may be gone since: then all changes must follow it.
    was_cut_short = stored is not None and not stored.is_snapshot_complete
    read = _later_read(capture, offset or {}, None if was_cut_short else position, reading)
    return CaptureStart(read, replace(position, visible=read.visible), streams=True)


def _is_complete(stored: StoredOffset | None) -> bool:
    return stored is not None and stored.is_snapshot_complete


def _usable_slot(capture: Capture, stored: StoredOffset | None) -> tuple[SlotState | None, bool]:
    """The slot if it can be used, and whether changes were lost with it."""
    name, mode = capture.settings.slot, capture.settings.snapshot_mode
    state = slot_state(capture.server, capture.connection, name)
    if state is not None:
        _log.info(
            "slot %s: wal_status %s, the server keeps %d bytes of the log for it",
            *(name, state.wal_status, state.retained_bytes),
        )
    is_lost = state.is_lost if state is not None else _is_complete(stored)
    if not is_lost:
        return state, False
    if mode != "when_needed":
        raise ConfigError(gone_message(name, state))
    if state is not None:
        drop_slot(capture.server, capture.connection, name)
    return None, True


def _with_new_slot(capture: Capture, reading: Reading, *, wants_read: bool) -> CaptureStart:
    maker: Connection = capture.server.replicate(capture.settings.slot)
    try:
        created = create_slot(capture.server, maker, capture.settings.slot)
        # The slot's snapshot lives while this connection does nothing else.
        read = _read_at(capture, created, reading) if wants_read else None
    finally:
        maker.close()
    return CaptureStart(read, LogPosition(created.consistent_lsn), streams=True)


def _read_at(capture: Capture, created: CreatedSlot, reading: Reading) -> InitialRead | SharedRead:
    snapshot = TableSnapshot(capture.server, capture.settings.slot, "repeatable_read")
    try:
        snapshot.take_over(created.snapshot)
        lsn = created.consistent_lsn
        start = ReadFrom(
            snapshot, snapshot.moment(), lsn, {"lsn_commit": lsn}, None, reading.former_readers
        )
        return first_read(capture, start, reading.lender)
    except BaseException:
        snapshot.close()
        raise


def _later_read(
    capture: Capture, before: Mapping[str, object], position: LogPosition | None, reading: Reading
) -> InitialRead | SharedRead:
    """Of this moment; the stream leaves out what it shows, if there is a position for it."""
    snapshot = TableSnapshot(capture.server, capture.settings.slot, capture.settings.isolation)
    try:
        moment = snapshot.moment()
        visible = None
        if position is not None:
            visible = visible_transactions(moment.visible, moment.lsn)
        start = ReadFrom(snapshot, moment, moment.lsn, before, visible, reading.former_readers)
        return first_read(capture, start, reading.lender)
    except BaseException:
        snapshot.close()
        raise
