"""The nodes of a tree in memory: a machine with ZooKeeper's rules.

Every call of `apply` is one transaction: all of its operations happen, under one
transaction id, or none. What changed comes back as rows to store and events to fire.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from moldau.coordination.tree import (
    ANY_VERSION,
    NO_SESSION,
    BadVersion,
    Change,
    Check,
    Create,
    Delete,
    NoChildrenForEphemerals,
    NodeExists,
    NodeStat,
    NoNode,
    NotEmpty,
    Operation,
    Result,
    SetData,
    TreeError,
    TreeNode,
    WatchEvent,
    check_path,
    parent_path,
)


class NodeRow(NamedTuple):
    """A node as it is stored."""

    path: str
    data: bytes | None
    czxid: int
    mzxid: int
    version: int
    children_created: int
    """Children ever created, which numbers the sequential ones."""
    ephemeral_owner: int
    created_ms: int
    changed_ms: int
    pzxid: int = 0
    acl_version: int = 0
    acls: str = ""
    """As in `Create`."""


@dataclass(frozen=True, slots=True)
class SetAcls:
    """Replace who may do what with a node, if the list has that version."""

    path: str
    acls: str
    version: int = ANY_VERSION


StoredOperation = Operation | SetAcls
"""What the store can do; brokers only need the first kind."""


class SessionRow(NamedTuple):
    """A session as it is stored: one that comes back after a restart is known."""

    session_id: int
    password: bytes
    timeout_ms: int


@dataclass(slots=True)
class TreeTransaction:
    """What one call of `apply` did."""

    zxid: int
    results: list[Result] = field(default_factory=list)
    events: list[WatchEvent] = field(default_factory=list)
    rows: dict[str, NodeRow | None] = field(default_factory=dict)
    """Every changed node as it is now; None for a deleted one."""
    sessions: dict[int, SessionRow | None] = field(default_factory=dict)
    """Every session that has begun, or None for one that has ended."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to store."""
        return not self.rows and not self.sessions


@dataclass(slots=True)
class _Entry:
    """A node with the names of its children, of which most have one or none: a dict is for more."""

    row: NodeRow
    _names: dict[str, None] | str = ""

    def names(self) -> list[str]:
        """Of the children, in an order that is the same in every run."""
        if isinstance(self._names, str):
            return [self._names] if self._names else []
        return list(self._names)

    def children_count(self) -> int:
        return int(self._names != "") if isinstance(self._names, str) else len(self._names)

    def add(self, path: str) -> None:
        """Take in a child."""
        name = sys.intern(path.rpartition("/")[2])  # there are many of `partitions` and `state`
        if isinstance(self._names, dict):
            self._names[name] = None
        else:
            self._names = {self._names: None, name: None} if self._names else name

    def remove(self, path: str) -> None:
        """Give up a child."""
        if isinstance(self._names, dict):
            del self._names[path.rpartition("/")[2]]
        else:
            self._names = ""


@dataclass(frozen=True, slots=True)
class _Step:
    """What an operation works with."""

    transaction: TreeTransaction
    undo: list[Callable[[], None]]
    session_id: int
    now_ms: int


class Nodes:
    """The nodes, by path. The root always exists."""

    def __init__(self, rows: Iterable[NodeRow] = (), *, last_zxid: int = 0) -> None:
        self.last_zxid = last_zxid
        self._entries = {row.path: _Entry(row) for row in rows}
        self._entries.setdefault("/", _Entry(_ROOT))
        for path in self._entries:
            if path != "/":
                self._entries[parent_path(path)].add(path)

    def get(self, path: str) -> TreeNode:
        """The node, or NoNode."""
        entry = self._entry(path)
        return TreeNode(entry.row.data or b"", _stat(entry))

    def row(self, path: str) -> NodeRow:
        """The node as it is stored, or NoNode."""
        return self._entry(path).row

    def exists(self, path: str) -> NodeStat | None:
        """What is known about the node, if it exists."""
        check_path(path)
        entry = self._entries.get(path)
        return None if entry is None else _stat(entry)

    def children(self, path: str) -> list[str]:
        """The names of a node's children, sorted, or NoNode."""
        return sorted(self._entry(path).names())

    def apply(
        self,
        operations: Sequence[StoredOperation],
        *,
        session_id: int,
        now_ms: int,
        permit: Callable[[StoredOperation], None] | None = None,
    ) -> TreeTransaction:
        """Do all of the operations for a session, or none and raise the first one's error.

        `permit` may refuse one by a TreeError, when those before it are done.
        """
        transaction = TreeTransaction(self.last_zxid + 1)
        undo: list[Callable[[], None]] = []
        for index, operation in enumerate(operations):
            try:
                if permit is not None:
                    permit(operation)
                step = _Step(transaction, undo, session_id, now_ms)
                transaction.results.append(self._apply_one(operation, step))
            except TreeError as error:
                for take_back in reversed(undo):
                    take_back()
                error.index = index
                raise
        if transaction.rows:
            self.last_zxid = transaction.zxid
        return transaction

    def end_session(self, session_id: int, *, now_ms: int) -> TreeTransaction:
        """Delete the ephemeral nodes of a session."""
        owned = [Delete(path) for path in self.owned(session_id)]
        return self.apply(owned, session_id=session_id, now_ms=now_ms)

    def sessions(self) -> list[int]:
        """The sessions that own nodes."""
        owners = {entry.row.ephemeral_owner: None for entry in self._entries.values()}
        owners.pop(NO_SESSION, None)
        return list(owners)

    def owned(self, session_id: int) -> list[str]:
        """The paths of a session's ephemeral nodes."""
        entries = self._entries.items()
        return [path for path, entry in entries if entry.row.ephemeral_owner == session_id]

    def counts(self) -> tuple[int, int, int]:
        """How many nodes there are, how many of them are ephemeral, and the bytes of their data."""
        rows = [entry.row for entry in self._entries.values()]
        ephemeral = sum(row.ephemeral_owner != NO_SESSION for row in rows)
        return len(rows), ephemeral, sum(len(row.path) + len(row.data or b"") for row in rows)

    def _apply_one(self, operation: StoredOperation, step: _Step) -> Result:
        match operation:
            case Create():
                return self._create(operation, step)
            case SetData(path, data, version):
                return self._set(self._entry(path, version), data, step)
            case Delete(path, version):
                self._delete(self._entry(path, version), step)
                return None
            case Check(path, version):
                self._entry(path, version)
                return None
            case SetAcls(path, acls, version):
                return self._set_acls(self._entry(path), acls, version, step)

    def _create(self, operation: Create, step: _Step) -> str:
        parent = self._entry(parent_path(operation.path))
        path = operation.path
        if operation.is_sequential:
            path += f"{parent.row.children_created:010d}"
        check_path(path)
        if path in self._entries:
            raise NodeExists(path)
        if parent.row.ephemeral_owner != NO_SESSION:
            raise NoChildrenForEphemerals(path)
        owner = step.session_id if operation.is_ephemeral else NO_SESSION
        entry = _Entry(
            NodeRow(
                path=path,
                data=operation.data,
                czxid=step.transaction.zxid,
                mzxid=step.transaction.zxid,
                version=0,
                children_created=0,
                ephemeral_owner=owner,
                created_ms=step.now_ms,
                changed_ms=step.now_ms,
                pzxid=step.transaction.zxid,
                acls=operation.acls,
            )
        )
        self._link(entry, parent)
        step.undo.append(partial(self._unlink, entry, parent))
        step.transaction.rows[path] = entry.row
        numbered = parent.row._replace(
            children_created=parent.row.children_created + 1, pzxid=step.transaction.zxid
        )
        self._replace_row(parent, numbered, step)
        self._notify(step, Change.CREATED, entry, parent)
        return path

    def _set(self, entry: _Entry, data: bytes | None, step: _Step) -> NodeStat:
        changed = entry.row._replace(
            data=data,
            version=entry.row.version + 1,
            mzxid=step.transaction.zxid,
            changed_ms=step.now_ms,
        )
        self._replace_row(entry, changed, step)
        event = WatchEvent(Change.DATA, entry.row.path, entry.row.acls)
        step.transaction.events.append(event)
        return _stat(entry)

    def _set_acls(self, entry: _Entry, acls: str, version: int, step: _Step) -> NodeStat:
        row = entry.row
        if version not in (ANY_VERSION, row.acl_version):
            raise BadVersion(row.path)
        self._replace_row(entry, row._replace(acls=acls, acl_version=row.acl_version + 1), step)
        return _stat(entry)

    def _delete(self, entry: _Entry, step: _Step) -> None:
        path = entry.row.path
        assert path != "/", "the root stays"
        if entry.children_count():
            raise NotEmpty(path)
        parent = self._entry(parent_path(path))
        self._unlink(entry, parent)
        step.undo.append(partial(self._link, entry, parent))
        step.transaction.rows[path] = None
        self._replace_row(parent, parent.row._replace(pzxid=step.transaction.zxid), step)
        self._notify(step, Change.DELETED, entry, parent)

    def _entry(self, path: str, version: int = ANY_VERSION) -> _Entry:
        check_path(path)
        entry = self._entries.get(path)
        if entry is None:
            raise NoNode(path)
        if version not in (ANY_VERSION, entry.row.version):
            raise BadVersion(path)
        return entry

    def _link(self, entry: _Entry, parent: _Entry) -> None:
        self._entries[entry.row.path] = entry
        parent.add(entry.row.path)

    def _unlink(self, entry: _Entry, parent: _Entry) -> None:
        del self._entries[entry.row.path]
        parent.remove(entry.row.path)

    def _replace_row(self, entry: _Entry, row: NodeRow, step: _Step) -> None:
        step.undo.append(partial(setattr, entry, "row", entry.row))
        entry.row = row
        step.transaction.rows[row.path] = row

    def _notify(self, step: _Step, change: Change, entry: _Entry, parent: _Entry) -> None:
        step.transaction.events += [
            WatchEvent(change, entry.row.path, entry.row.acls),
            WatchEvent(Change.CHILDREN, parent.row.path, parent.row.acls),
        ]


_ROOT = NodeRow(
    path="/",
    data=b"",
    czxid=0,
    mzxid=0,
    version=0,
    children_created=0,
    ephemeral_owner=NO_SESSION,
    created_ms=0,
    changed_ms=0,
)


def _stat(entry: _Entry) -> NodeStat:
    row, count = entry.row, entry.children_count()
    return NodeStat(
        czxid=row.czxid,
        mzxid=row.mzxid,
        version=row.version,
        ephemeral_owner=row.ephemeral_owner,
        children_count=count,
        created_ms=row.created_ms,
        changed_ms=row.changed_ms,
        pzxid=row.pzxid,
        # ZooKeeper counts additions and removals, and stores additions alone.
        children_version=2 * row.children_created - count,
        acl_version=row.acl_version,
    )
