"""Changes of transactions, collected from the messages of the log until they are given away.

What is collected ends with a commit, unless a transaction is larger than the limits: then it is
given in parts, each with a place within the transaction. Changes that were stored before a restart
are left out; so are tables that nobody wants.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from moldau.connect.connectors.capture.changes import (
    CREATE,
    DELETE,
    MESSAGE,
    TRUNCATE,
    UPDATE,
    Change,
    LoggedMessage,
    RowChange,
    TransactionBegin,
    TransactionCounts,
    TransactionEnd,
    split_key_change,
)
from moldau.connect.connectors.capture.tables import CapturedTable
from moldau.connect.connectors.postgresql.pgoutput import (
    BeginMessage,
    CommitMessage,
    DeleteMessage,
    InsertMessage,
    LogicalMessage,
    Message,
    OriginMessage,
    RelationMessage,
    TruncateMessage,
    TypeMessage,
    UpdateMessage,
)
from moldau.connect.connectors.postgresql.places import LogPlace
from moldau.connect.connectors.postgresql.position import LogPosition, LogProgress, Standing

_MESSAGES = "message"


@dataclass(frozen=True, slots=True)
class ChangeRules:
    """What is wanted."""

    table_of: Callable[[RelationMessage], CapturedTable | None]
    """None for a table that is not captured."""
    skipped: frozenset[str] = frozenset({TRUNCATE})
    has_transactions: bool = False


class ChangeCollector:
    """Takes messages, one after the other; `cut` gives what there is."""

    def __init__(self, position: LogPosition, rules: ChangeRules) -> None:
        self._rules = rules
        self._progress = LogProgress(position)
        self._tables: dict[int, CapturedTable | None] = {}
        self._changes: list[Change] = []
        self._held: tuple[int, Message] | None = None
        self._is_open = False
        self._has_begun = False
        self._counts = TransactionCounts()
        self._origin: tuple[str, int] | None = None
        self._time_us = 0
        self._tx_id: int | None = None
        self._begin_lsn = 0
        self.has_moved = False
        """Whether a commit was passed, or a change collected."""
        self.size_bytes = 0
        """Of the messages that were collected."""

    def __len__(self) -> int:
        return len(self._changes)

    @property
    def is_within(self) -> bool:
        """Whether the last message is part of a transaction that goes on."""
        return self._is_open

    @property
    def commit_lsn(self) -> int | None:
        """The end of the last commit."""
        return self._progress.position.commit_lsn

    def offset(self) -> dict[str, object]:
        """For what was collected up to here."""
        return self._progress.offset(is_within=self._is_open)

    def cut(self) -> list[Change]:
        """What was collected; it is forgotten here."""
        found, self._changes, self.size_bytes = self._changes, [], 0
        return found

    def take(self, lsn: int, message: Message, size: int) -> None:
        """The next message of the log."""
        match message:
            case InsertMessage() | UpdateMessage() | DeleteMessage():
                self._row(lsn, message, size)  # what most messages are
            case RelationMessage():
                self._tables[message.oid] = self._rules.table_of(message)
            case BeginMessage():
                self._begin(lsn, message)
            case CommitMessage():
                self._commit(message)
            case OriginMessage():
                self._origin = (message.name, message.lsn)
            case TypeMessage():
                pass  # types are looked up when a table uses them
            case LogicalMessage() if not message.is_transactional:
                self._logical(message, self._place(lsn, has_transaction=False))
            case _:
                self._row(lsn, message, size)

    def _begin(self, lsn: int, message: BeginMessage) -> None:
        self._begin_lsn = lsn
        self._progress.begin(message.final_lsn, message.xid, message.time_us)
        self._is_open, self._has_begun, self._held = True, False, None
        self._counts, self._origin = TransactionCounts(), None
        self._time_us, self._tx_id = message.time_us, message.xid

    def _commit(self, message: CommitMessage) -> None:
        wants = self._rules.has_transactions and not self._progress.is_seen
        if wants:
            end = self._place(message.end_lsn)
            if not self._has_begun:
                self._changes.append(TransactionBegin(self._place(self._begin_lsn)))
            self._changes.append(TransactionEnd(end, dict(self._counts.counts)))
        self._progress.commit(message.end_lsn)
        self._is_open, self._held = False, None
        self.has_moved = True

    def _row(self, lsn: int, message: Message, size: int) -> None:
        standing = self._progress.change(lsn)
        if standing is Standing.UNCERTAIN and self._held is None:
            self._held = (lsn, message)
            return
        held, self._held = self._held, None
        if held is not None and held[0] == lsn:
            # Java's offset cannot distinguish changes of one place: rather twice than never.
            self._progress.forget_last_change()
            self._add(*held)
        if standing is not Standing.STORED:
            self._add(lsn, message)
            self.size_bytes += size
        elif self._rules.has_transactions and not self._progress.is_seen:
            # It counts, though it is not given again.
            before = len(self._changes)
            self._add(lsn, message)
            del self._changes[before:]

    def _add(self, lsn: int, message: Message) -> None:
        place = self._place(lsn)
        if self._rules.has_transactions and not self._has_begun:
            self._changes.append(TransactionBegin(place))
            self._has_begun = True
        match message:
            case InsertMessage():
                self._change(message.oid, CREATE, place, new=message.new)
            case UpdateMessage():
                self._update(message, place)
            case DeleteMessage():
                old, is_full = message.old, message.has_full_old
                self._change(message.oid, DELETE, place, old=old, has_full_old=is_full)
            case TruncateMessage():
                for oid in message.oids:
                    self._change(oid, TRUNCATE, place)
            case LogicalMessage():
                self._logical(message, place)

    def _update(self, message: UpdateMessage, place: LogPlace) -> None:
        self._change(
            message.oid,
            UPDATE,
            place,
            old=message.old,
            has_full_old=message.has_full_old,
            new=message.new,
        )

    def _change(self, oid: int, operation: str, place: LogPlace, **cells: object) -> None:
        table = self._tables.get(oid)
        if table is None or operation in self._rules.skipped:
            return
        found = RowChange(table, operation, place, **cells)  # type: ignore[arg-type]
        if operation != UPDATE:
            self._changes.append(self._ordered(found))
            return
        for each in split_key_change(found):
            if each.operation not in self._rules.skipped:
                self._changes.append(self._ordered(each))

    def _ordered(self, change: RowChange) -> RowChange:
        if not self._rules.has_transactions:
            return change
        order = self._counts.next(str(change.table.name))
        return replace(change, order=order)

    def _logical(self, message: LogicalMessage, place: LogPlace) -> None:
        if MESSAGE in self._rules.skipped:
            return
        if not message.is_transactional and message.lsn < (self.commit_lsn or 0):
            return
        has_order = self._rules.has_transactions and message.is_transactional
        order = self._counts.next(_MESSAGES) if has_order else None
        self._changes.append(LoggedMessage(place, message.prefix, message.content, order))

    def _place(self, lsn: int, *, has_transaction: bool = True) -> LogPlace:
        name, origin_lsn = self._origin or (None, None)
        tx_id = self._tx_id if has_transaction else None
        commit_lsn = self._progress.position.commit_lsn
        return LogPlace(lsn, commit_lsn, tx_id, self._time_us, name, origin_lsn)
