"""How far the log was read: Debezium's offsets, and what was seen after a restart already.

An offset says up to which commit everything is stored (`lsn_commit`, the end of that commit in
the log). Commits are in order, changes of transactions that ran beside each other are not:
so places are compared by commits, and within the next transaction by the number of the change.
Java's offsets count no changes, they name the place of the last one (`lsn_proc`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from moldau.connect.errors import ConnectError

_ROW_KINDS = ("INSERT", "UPDATE", "DELETE", "TRUNCATE", "MESSAGE")
_COMMIT_KIND = "COMMIT"
_COUNT, _FINAL, _VISIBLE, _UNTIL = (
    *("moldau_changes", "moldau_final_lsn"),
    *("moldau_snapshot", "moldau_snapshot_lsn"),
)
_OF_STREAM = frozenset({"lsn_proc", "lsn_commit", "messageType", _FINAL, _COUNT})
_XID_RANGE, _XID_HALF = 2**32, 2**31


@dataclass(frozen=True, slots=True)
class VisibleTransactions:
    """Those whose changes a snapshot of the tables has: pg_current_snapshot()."""

    text: str
    until_lsn: int
    """No commit from here on is among them."""
    xmin: int = 0
    xmax: int = 0
    running: frozenset[int] = frozenset()

    def has(self, xid: int) -> bool:
        """Whether a transaction, by the last 32 bits of its number, is among them."""
        whole = (self.xmax & ~(_XID_RANGE - 1)) | xid
        if whole > self.xmax + _XID_HALF:
            whole -= _XID_RANGE
        elif whole < self.xmax - _XID_HALF:
            whole += _XID_RANGE
        return whole < self.xmin or (whole < self.xmax and whole not in self.running)


def visible_transactions(text: str, until_lsn: int) -> VisibleTransactions:
    """Of a text `xmin:xmax:running,running`."""
    try:
        xmin, xmax, running = text.split(":")
        listed = frozenset(int(each) for each in running.split(",") if each)
        return VisibleTransactions(text, until_lsn, int(xmin), int(xmax), listed)
    except ValueError as error:
        raise ConnectError(f"{text!r} is no snapshot of PostgreSQL's transactions") from error


@dataclass(frozen=True, slots=True)
class LogPosition:
    """Where to go on."""

    commit_lsn: int | None = None
    """Everything up to the end of this commit is stored."""
    final_lsn: int | None = None
    """Of the transaction that is stored in part, if there is one: where it commits."""
    changes: int = 0
    """How many of its changes are stored."""
    last_change_lsn: int | None = None
    """In an offset of Java's: changes of the next transaction up to this one are stored."""
    visible: VisibleTransactions | None = None
    """What the snapshot had, while transactions may come that it had."""


@dataclass(frozen=True, slots=True)
class StoredOffset:
    """What an offset of the connector says."""

    position: LogPosition
    is_snapshot_complete: bool
    """False while the tables are read for the first time."""


def stored_offset(offset: Mapping[str, object]) -> StoredOffset:
    """The offset of this connector or of Debezium's; ConnectError for anything else."""
    is_complete = True
    if offset.get("snapshot") not in (None, False, "false"):
        is_complete = any(
            offset.get(name) in (True, "true")
            for name in ("snapshot_completed", "last_snapshot_record")
        )
    commit_lsn = _number(offset, "lsn_commit")
    last = _number(offset, "lsn_proc")
    if last is None:
        last = _number(offset, "lsn")
    if last is None and commit_lsn is None:
        raise ConnectError(f"{dict(offset)} is no offset of this connector: it has no lsn")
    final_lsn, visible_text = _number(offset, _FINAL), offset.get(_VISIBLE)
    visible = None
    if isinstance(visible_text, str):
        visible = visible_transactions(visible_text, _number(offset, _UNTIL) or 0)
    if final_lsn is not None:
        position = LogPosition(commit_lsn, final_lsn, _number(offset, _COUNT) or 0, visible=visible)
    elif offset.get("messageType") in _ROW_KINDS:
        position = LogPosition(commit_lsn, last_change_lsn=last, visible=visible)
    elif "snapshot" in offset or commit_lsn is not None:
        # A snapshot's own place is no commit: one before it may not have been visible to it.
        position = LogPosition(commit_lsn, visible=visible)
    else:
        position = LogPosition(last or None, visible=visible)
    return StoredOffset(position, is_complete)


def _number(offset: Mapping[str, object], name: str) -> int | None:
    found = offset.get(name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int):
        raise ConnectError(f"{dict(offset)} is no offset of this connector: {name} is no number")
    return found


class Standing(Enum):
    """Whether a change was stored before a restart."""

    NEW = "new"
    STORED = "stored"
    UNCERTAIN = "uncertain"
    """It is where Java's offset says; stored, unless others are at the same place."""


@dataclass(slots=True)
class LogProgress:
    """Decides what is new, and says how far it got."""

    position: LogPosition
    tx_id: int | None = None
    time_us: int = 0
    _final_lsn: int = 0
    _changes: int = 0
    _done: int = 0
    _is_seen: bool = False
    _last_lsn: int = 0

    def begin(self, final_lsn: int, xid: int, time_us: int) -> None:
        """A transaction begins."""
        position = self.position
        self._final_lsn, self._changes, self._done = final_lsn, 0, 0
        self._is_seen = position.commit_lsn is not None and final_lsn < position.commit_lsn
        if self._is_seen:
            return
        if position.final_lsn == final_lsn:
            self._done = position.changes
        if position.visible is not None and position.visible.has(xid):
            self._is_seen = True
        self.tx_id, self.time_us = xid, time_us

    def change(self, lsn: int) -> Standing:
        """The next change of the transaction."""
        self._changes += 1
        if self._is_seen or self._changes <= self._done:
            return Standing.STORED
        last = self.position.last_change_lsn
        if last is not None and lsn < last:
            return Standing.STORED
        self._last_lsn = lsn
        return Standing.NEW if lsn != last else Standing.UNCERTAIN

    def forget_last_change(self) -> None:
        """Take all from here on for new: Java's offset was no help."""
        self.position = replace(self.position, last_change_lsn=None)

    @property
    def is_seen(self) -> bool:
        """Whether all of the transaction is stored already."""
        return self._is_seen

    def commit(self, end_lsn: int) -> None:
        """The transaction ends: the next one may have changes that Java's offset cannot name."""
        before = self.position
        if before.commit_lsn is not None and end_lsn <= before.commit_lsn:
            return
        visible = before.visible
        if visible is not None and end_lsn > visible.until_lsn:
            visible = None
        self.position = LogPosition(end_lsn, visible=visible)

    def offset(self, *, is_within: bool) -> dict[str, object]:
        """Debezium's fields; ours are added where it has no counterpart, and Java ignores them."""
        position, known = self.position, self.position.commit_lsn or 0
        found: dict[str, object] = {"ts_usec": self.time_us}
        if self.tx_id is not None:
            found["txId"] = self.tx_id
        last = self._last_lsn if is_within else known
        found |= {"lsn": last, "lsn_proc": last}
        if position.commit_lsn is not None:
            found["lsn_commit"] = position.commit_lsn
        found["messageType"] = "INSERT" if is_within else _COMMIT_KIND
        if is_within:
            found |= {_FINAL: self._final_lsn, _COUNT: self._changes}
        if position.visible is not None:
            found |= {_VISIBLE: position.visible.text, _UNTIL: position.visible.until_lsn}
        return found


def snapshot_offset(
    moment: Mapping[str, object],
    before: Mapping[str, object],
    visible: VisibleTransactions | None,
    *,
    is_complete: bool,
) -> dict[str, object]:
    """While tables are read, and right after; `before` is from where the stream goes on."""
    found = {name: each for name, each in before.items() if name in _OF_STREAM}
    if visible is not None:
        found |= {_VISIBLE: visible.text, _UNTIL: visible.until_lsn}
    done = {"last_snapshot_record": is_complete, "snapshot_completed": is_complete}
    return {**found, **moment, "snapshot": "INITIAL", **done}
