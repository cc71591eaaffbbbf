"""The lasting nodes of a tree, read from one and written to another: server, store or text."""

import base64
import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from moldau.coordination.journal import TreeJournal
from moldau.coordination.nodes import NodeRow
from moldau.coordination.tree import NO_SESSION, parent_path
from moldau.zookeeper import jute
from moldau.zookeeper.jute import JuteReader
from moldau.zookeeper.messages import AUTH_XID, Err, Op
from moldau.zookeeper.operations import is_reserved
from moldau.zookeeper.rights import Entry, entries_bytes, entries_of, read_entries
from moldau.zookeeper.wire_session import WireSession

_VERSION = 1
# Notices of changes, which brokers read once: those that start read everything.
_NOTICES = (
    "/config/changes",
    "/isr_change_notification",
    "/kafka-acl-changes",
    "/kafka-acl-extended-changes",
    "/log_dir_event_notification",
)
_READS_MAX = 5
_STAT_SKIPPED = 4 * 8 + 3 * 4


class SnapshotError(Exception):
    """A tree that cannot be read or written: says which node, and why."""


class SnapshotNode(NamedTuple):
    """A node without what only its own tree knows."""

    path: str
    data: bytes | None
    acls: list[Entry]


# Text


def snapshot_lines(nodes: Iterable[SnapshotNode]) -> Iterator[str]:
    """A line of JSON for each node, after one that says what it is."""
    yield json.dumps({"moldau": "tree", "version": _VERSION})
    for node in nodes:
        data = None if node.data is None else base64.b64encode(node.data).decode()
        yield json.dumps({"path": node.path, "data": data, "acls": node.acls}, ensure_ascii=False)


def read_lines(lines: Iterable[str]) -> list[SnapshotNode]:
    """The nodes of such lines; SnapshotError if they are something else."""
    try:
        first, *rest = [json.loads(line) for line in lines if line.strip()] or [None]
        if first != {"moldau": "tree", "version": _VERSION}:
            raise SnapshotError("this is no dump of a tree")
        return [
            SnapshotNode(
                each["path"],
                None if each["data"] is None else base64.b64decode(each["data"], validate=True),
                [Entry(*entry) for entry in each["acls"]],
            )
            for each in rest
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise SnapshotError(f"this is no dump of a tree: {error}") from error


# A store


def read_store(path: str) -> list[SnapshotNode]:
    """The nodes of a store that nobody uses; StoreError if somebody does."""
    with TreeJournal(path) as journal:
        rows = journal.rows()
    return [
        SnapshotNode(row.path, row.data, entries_of(row.acls))
        for row in rows
        if row.ephemeral_owner == NO_SESSION and is_kept(row.path)
    ]


def write_store(path: str, nodes: Iterable[SnapshotNode], *, now_ms: int) -> int:
    """Write the nodes into a store without any; how many there were."""
    with TreeJournal(path) as journal:
        if any(is_kept(row.path) for row in journal.rows()):
            raise SnapshotError(f"{path} is not empty")
        zxid = journal.counter("zxid") + 1
        rows = {node.path: _row(node, zxid, now_ms) for node in nodes if is_kept(node.path)}
        for child in rows:
            parent = parent_path(child)
            if parent in rows:
                counted = rows[parent].children_created + 1
                rows[parent] = rows[parent]._replace(children_created=counted)
        try:
            journal.commit(rows, {"zxid": zxid})
        except sqlite3.Error as error:
            raise SnapshotError(f"{path} cannot be written: {error}") from error
    return len(rows)


def _row(node: SnapshotNode, zxid: int, now_ms: int) -> NodeRow:
    acls = "" if node.acls == entries_of("") else json.dumps(node.acls)
    return NodeRow(
        node.path, node.data, zxid, zxid, 0, 0, NO_SESSION, now_ms, now_ms, zxid, acls=acls
    )


def is_kept(path: str) -> bool:
    """Whether a node belongs into another tree as well."""
    return path != "/" and not is_reserved(path) and parent_path(path) not in _NOTICES


# A server


class TreeAddress(NamedTuple):
    """Where a tree is served, and below which node the cluster has its own."""

    host: str
    port: int
    base: str


def read_server(session: WireSession, base: str) -> list[SnapshotNode]:
    """The nodes below a base at one moment; SnapshotError if they never stand still."""
    for _ in range(_READS_MAX):
        before = _last_zxid(session)
        found = list(_walk(session, base, "/"))
        if _last_zxid(session) == before:
            return [node for node in found if is_kept(node.path)]
    raise SnapshotError("the tree changes all the time: stop the brokers first")


def write_server(session: WireSession, base: str, nodes: Iterable[SnapshotNode]) -> int:
    """Create the nodes below a base that has none; how many there were."""
    _create_base(session, base)
    names = _ask(session, Op.GET_CHILDREN, base or "/", jute.flag(False)).texts()
    if [name for name in names if is_kept(f"{base}/{name}")]:
        raise SnapshotError(f"there are nodes below {base or '/'} already")
    kept = [node for node in nodes if is_kept(node.path)]
    for node in kept:
        body = jute.buffer(node.data) + entries_bytes(node.acls) + jute.integer(0)
        _ask(session, Op.CREATE, base + node.path, body)
    return len(kept)


def prove(session: WireSession, proof: str) -> None:
    """Say who asks, as `user:password`."""
    body = jute.integer(0) + jute.text("digest") + jute.buffer(proof.encode())
    session.ask(Op.AUTH, body, xid=AUTH_XID)


def _create_base(session: WireSession, base: str) -> None:
    body = jute.buffer(None) + entries_bytes(entries_of("")) + jute.integer(0)
    path = ""
    for name in base.split("/")[1:]:
        path += f"/{name}"
        session.ask(Op.CREATE, jute.text(path) + body)


def _walk(session: WireSession, base: str, path: str) -> Iterator[SnapshotNode]:
    whole = base + ("" if path == "/" and base else path)
    found = _ask(session, Op.GET_DATA, whole, jute.flag(False))
    data = found.buffer()
    for _ in range(_STAT_SKIPPED // 4):
        found.integer()
    if found.long() != NO_SESSION:
        return
    acls = read_entries(_ask(session, Op.GET_ACL, whole, b""))
    yield SnapshotNode(path, data, acls)
    names = _ask(session, Op.GET_CHILDREN, whole, jute.flag(False)).texts()
    for name in sorted(names):
        below = f"{path.rstrip('/')}/{name}"
        if not is_reserved(base + below):
            yield from _walk(session, base, below)


def _last_zxid(session: WireSession) -> int:
    session.ask(Op.SYNC, jute.text("/"))
    return session.ask(Op.EXISTS, jute.text("/") + jute.flag(False))[-1].zxid


def _ask(session: WireSession, op: Op, path: str, rest: bytes) -> JuteReader:
    answer = session.ask(op, jute.text(path) + rest)[-1]
    if answer.error:
        names = {int(each): each.name for each in Err}
        why = names.get(answer.error, f"error {answer.error}")
        raise SnapshotError(f"{op.name} of {path} is refused: {why}")
    return JuteReader(answer.body)
