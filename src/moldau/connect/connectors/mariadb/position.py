"""How far the log was read: Debezium's offsets, and how much of a transaction is stored.

An offset names the end of the last transaction that is stored as a whole, by the set of ids up to
it (`gtids`) and by its place in the log (`file`, `pos`). The server goes on from there. If the
next transaction is stored in part, the offset also says which one that is, and how many of its
events about rows are stored. Java's offsets count events in another way (`event`, `row`).
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from moldau.connect.connectors.mariadb.gtids import Gtids, gtids_of
from moldau.connect.errors import ConnectError

_log = logging.getLogger(__name__)

_GTID, _EVENTS = "moldau_gtid", "moldau_events"


@dataclass(frozen=True, slots=True)
class BinlogPosition:
    """Where to go on: between two transactions."""

    file: str
    pos: int
    gtids: Gtids | None = None
    """None where the server gives no ids."""
    partial: str | None = None
    """The id of the next transaction, or its place, if it is stored in part."""
    events: int = 0
    """How many of its events are stored."""


@dataclass(frozen=True, slots=True)
class BinlogOffset:
    """What an offset of the connector says."""

    position: BinlogPosition
    is_snapshot_complete: bool
    """False while the tables are read for the first time."""


def stored_offset(offset: Mapping[str, object]) -> BinlogOffset:
    """The offset of this connector or of Debezium's; ConnectError for anything else."""
    is_complete = offset.get("snapshot") in (None, False, "false") or any(
        offset.get(name) in (True, "true") for name in ("snapshot_completed",)
    )
    file, pos = offset.get("file"), offset.get("pos")
    if not isinstance(file, str) or not isinstance(pos, int):
        raise ConnectError(f"{dict(offset)} is no offset of this connector: it has no file and pos")
    gtids, partial, events = offset.get("gtids"), offset.get(_GTID), offset.get(_EVENTS, 0)
    if gtids is not None and not isinstance(gtids, str):
        raise ConnectError(f"{dict(offset)} is no offset of this connector: gtids is no text")
    if not isinstance(events, int) or (partial is not None and not isinstance(partial, str)):
        raise ConnectError(f"{dict(offset)} is no offset of this connector: {_EVENTS}, {_GTID}")
    if partial is None and (offset.get("event") or offset.get("row")):
        _log.warning(
            "the offset %s is within a transaction, by a count of events that is Java's own: "
            "what is stored of that transaction comes once more",
            dict(offset),
        )
    known = None if gtids is None else gtids_of(gtids)
    return BinlogOffset(BinlogPosition(file, pos, known, partial, events), is_complete)


@dataclass(slots=True)
class BinlogProgress:
    """Decides what is new, and says how far it got."""

    position: BinlogPosition
    time_s: int = 0
    server_id: int = 0
    _gtid: str | None = None
    _name: str = ""
    _events: int = 0
    _done: int = 0

    def file(self, name: str, pos: int) -> None:
        """The log goes on in another file, or in this one."""
        if name != self.position.file:
            self.position = replace(self.position, file=name, pos=pos)

    def begin(self, gtid: str | None, pos: int, time_s: int) -> None:
        """A transaction begins."""
        self._gtid, self._name = gtid, gtid or f"{self.position.file}:{pos}"
        self._events, self.time_s = 0, time_s
        self._done = self.position.events if self.position.partial == self._name else 0

    def event(self) -> bool:
        """Whether the next event about rows is new."""
        self._events += 1
        return self._events > self._done

    def end(self, pos: int) -> None:
        """The transaction ends."""
        gtids = self.position.gtids
        if gtids is not None and self._gtid is not None:
            gtids = gtids.added(self._gtid)
        self.position = BinlogPosition(self.position.file, pos, gtids)

    def offset(self, *, is_within: bool) -> dict[str, object]:
        """Debezium's fields; ours are added where it has no counterpart, and Java ignores them."""
        found = position_fields(self.position)
        found |= {"ts_sec": self.time_s, "server_id": self.server_id}
        if is_within and self._events:
            found |= {_GTID: self._name, _EVENTS: max(self._events, self._done)}
        return found


def position_fields(position: BinlogPosition) -> dict[str, object]:
    """What an offset says of a position."""
    found: dict[str, object] = {"file": position.file, "pos": position.pos}
    if position.gtids is not None:
        found["gtids"] = position.gtids.text
    return found


def snapshot_offset(
    position: BinlogPosition, time_s: int, *, is_complete: bool
) -> dict[str, object]:
    """While tables are read, and right after."""
    fields = {**position_fields(position), "ts_sec": time_s}
    return {**fields, "snapshot": "INITIAL", "snapshot_completed": is_complete}
