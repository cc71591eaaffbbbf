"""What the server does for a request: a machine over nodes and watches, without any waiting."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from moldau.coordination.nodes import NodeRow, Nodes, TreeTransaction
from moldau.coordination.tree import NO_SESSION, Change, NodeStat, NoNode, TreeError, WatchEvent
from moldau.zookeeper import jute
from moldau.zookeeper.jute import JuteReader
from moldau.zookeeper.messages import Err, Op, Refused, stat_bytes
from moldau.zookeeper.operations import (
    RESERVED,
    Asked,
    end_of_results,
    error_of,
    error_result,
    is_path,
    multi_answer,
    multi_refusal,
    permission,
    read_multi,
    read_operation,
    refusal_of,
    result_bytes,
    result_header,
    several_reads,
    stored_operations,
)
from moldau.zookeeper.rights import (
    ANYONE,
    DIGEST,
    IP,
    WORLD,
    Id,
    NodeRight,
    digest_id,
    entries_bytes,
    entries_of,
    is_allowed,
)
from moldau.zookeeper.watch_table import WatchKind, WatchTable

_OWN_NODES = (f"{RESERVED}/config", f"{RESERVED}/quota")
_PROOFS_MAX = 100
_WRITES = (Op.CREATE, Op.CREATE2, Op.DELETE, Op.SET_DATA, Op.SET_ACL)

Watcher = TypeVar("Watcher")


@dataclass(slots=True)
class TreeClient(Generic[Watcher]):
    """Who asks: the session, who it has proved to be, and how it is notified of changes."""

    session_id: int
    ids: list[Id]
    watcher: Watcher


@dataclass(frozen=True, slots=True)
class Handled:
    """What comes of a request."""

    body: bytes = b""
    error: Err = Err.OK
    transaction: TreeTransaction | None = None
    """What it has changed."""
    events: list[WatchEvent] = field(default_factory=list)
    """What is sent to the client itself at once, before the answer."""


def new_client(session_id: int, host: str, watcher: Watcher) -> TreeClient[Watcher]:
    """A client that has proved nothing yet."""
    return TreeClient(session_id, [Id(WORLD, ANYONE), Id(IP, host)], watcher)


class Requests(Generic[Watcher]):
    """Answers requests from the nodes."""

    def __init__(self, nodes: Nodes, watches: WatchTable[Watcher]) -> None:
        self.nodes = nodes
        self.watches = watches

    def handle(
        self, client: TreeClient[Watcher], op: Op, reader: JuteReader, *, now_ms: int
    ) -> Handled:
        """Do what is asked for; Refused and Malformed are for the caller."""
        try:
            if op in _WRITES:
                asked = read_operation(op, reader, client.ids)
                transaction = self._apply(client, [asked], now_ms)
                body = result_bytes(asked, transaction.results[0], self.nodes)
                return Handled(body, transaction=transaction)
            if op is Op.MULTI:
                return self._several(client, read_multi(reader, client.ids), now_ms)
            return self._look(client, op, reader)
        except TreeError as error:
            return Handled(error=error_of(error))

    def _apply(
        self, client: TreeClient[Watcher], asked: Sequence[Asked], now_ms: int
    ) -> TreeTransaction:
        return self.nodes.apply(
            stored_operations(asked),
            session_id=client.session_id,
            now_ms=now_ms,
            permit=permission(self.nodes, client.ids),
        )

    def _several(self, client: TreeClient[Watcher], asked: Sequence[Asked], now_ms: int) -> Handled:
        try:
            transaction = self._apply(client, asked, now_ms)
        except TreeError as error:
            code = refusal_of(asked[error.index], error)
            return Handled(multi_refusal(len(asked), error.index, code))
        return Handled(multi_answer(asked, transaction, self.nodes), transaction=transaction)

    def _look(self, client: TreeClient[Watcher], op: Op, reader: JuteReader) -> Handled:
        match op:
            case Op.EXISTS | Op.GET_DATA | Op.GET_CHILDREN | Op.GET_CHILDREN2:
                path, is_watched = reader.text(), reader.flag()
                return Handled(self._read(client, op, path, is_watched=is_watched))
            case Op.GET_ACL:
                return Handled(self._acls(client, reader.text()))
            case Op.SYNC:
                return Handled(jute.text(reader.text()))
            case Op.MULTI_READ:
                return Handled(self._several_reads(client, reader))
            case Op.GET_EPHEMERALS:
                prefix = reader.text()
                owned = self.nodes.owned(client.session_id)
                return Handled(jute.texts([each for each in owned if each.startswith(prefix)]))
            case Op.GET_ALL_CHILDREN_NUMBER:
                path = reader.text()
                if self._stat(path) is None:
                    raise NoNode(path)
                self._require(client, self.nodes.row(path).acls, NodeRight.READ)
                return Handled(jute.integer(self._descendants(path)))
            case Op.WHO_AM_I:
                known = [_known_as(each) for each in client.ids[1:]]
                return Handled(jute.integer(len(known)) + b"".join(known))
            case _:
                return self._watch(client, op, reader)

    def _read(self, client: TreeClient[Watcher], op: Op, path: str, *, is_watched: bool) -> bytes:
        stat = self._stat(path)
        if stat is None:
            if op is Op.EXISTS and is_watched:
                self.watches.add(WatchKind.DATA, path, client.watcher)
            raise NoNode(path)
        row = self.nodes.row(path)
        self._require(client, row.acls, NodeRight.READ)
        if is_watched:
            is_data = op in (Op.EXISTS, Op.GET_DATA)
            kind = WatchKind.DATA if is_data else WatchKind.CHILDREN
            self.watches.add(kind, path, client.watcher)
        if op is Op.EXISTS:
            return stat_bytes(stat, row.data)
        if op is Op.GET_DATA:
            return jute.buffer(row.data) + stat_bytes(stat, row.data)
        names = jute.texts(self.nodes.children(path))
        return names + stat_bytes(stat, row.data) if op is Op.GET_CHILDREN2 else names

    def _stat(self, path: str) -> NodeStat | None:
        return self.nodes.exists(path) if is_path(path) else None

    def _several_reads(self, client: TreeClient[Watcher], reader: JuteReader) -> bytes:
        parts: list[bytes] = []
        for op, path in several_reads(reader):
            try:
                body = self._read(client, op, path, is_watched=False)
                parts.append(result_header(op) + body)
            except TreeError as error:
                parts.append(error_result(error_of(error)))
            except Refused as error:
                parts.append(error_result(error.code))
        return b"".join(parts) + end_of_results()

    def _acls(self, client: TreeClient[Watcher], path: str) -> bytes:
        stat = self._stat(path)
        if stat is None:
            raise NoNode(path)
        row = self.nodes.row(path)
        self._require(client, row.acls, NodeRight.READ | NodeRight.ADMIN)
        found = entries_of(row.acls)
        if not is_allowed(row.acls, NodeRight.ADMIN, client.ids):
            # A client that may only read does not see what proves others.
            found = [each._replace(name=_masked(each.scheme, each.name)) for each in found]
        return entries_bytes(found) + stat_bytes(stat, row.data)

    def _require(self, client: TreeClient[Watcher], acls: str, right: NodeRight) -> None:
        if not is_allowed(acls, right, client.ids):
            raise Refused(Err.NO_AUTH)

    def _descendants(self, path: str) -> int:
        names = self.nodes.children(path)
        base = "" if path == "/" else path
        return len(names) + sum(self._descendants(f"{base}/{name}") for name in names)

    # Watches

    def _watch(self, client: TreeClient[Watcher], op: Op, reader: JuteReader) -> Handled:
        match op:
            case Op.ADD_WATCH:
                path, mode = reader.text(), reader.integer()
                kinds = [WatchKind.PERSISTENT, WatchKind.RECURSIVE]
                if not 0 <= mode < len(kinds):
                    raise Refused(Err.BAD_ARGUMENTS)
                self.watches.add(kinds[mode], path, client.watcher)
                # ZooKeeper's answer has the number of an error in it, which is none.
                return Handled(jute.integer(Err.OK))
            case Op.REMOVE_WATCHES | Op.CHECK_WATCHES:
                path, kind = reader.text(), _kind(reader.integer())
                is_removal = op is Op.REMOVE_WATCHES
                look = self.watches.remove if is_removal else self.watches.has
                return Handled(error=Err.OK if look(kind, path, client.watcher) else Err.NO_WATCHER)
            case Op.SET_WATCHES | Op.SET_WATCHES2:
                return Handled(events=self._set_watches(client, op, reader))
            case _:
                raise Refused(Err.UNIMPLEMENTED)

    def _set_watches(
        self, client: TreeClient[Watcher], op: Op, reader: JuteReader
    ) -> list[WatchEvent]:
        """Watch on where another connection has left off; what has happened since is sent."""
        seen = reader.long()
        events: list[WatchEvent | None] = []
        for kind, is_missing in (
            (WatchKind.DATA, False),
            (WatchKind.DATA, True),
            (WatchKind.CHILDREN, False),
        ):
            for path in reader.texts():
                event = self._since(seen, kind, path, is_missing=is_missing)
                events.append(event)
                if event is None:
                    self.watches.add(kind, path, client.watcher)
        if op is Op.SET_WATCHES2:
            for kind in (WatchKind.PERSISTENT, WatchKind.RECURSIVE):
                for path in reader.texts():
                    self.watches.add(kind, path, client.watcher)
        return [event for event in events if event is not None]

    def _since(
        self, seen: int, kind: WatchKind, path: str, *, is_missing: bool
    ) -> WatchEvent | None:
        """What a watch would have sent since a transaction; None if nothing."""
        stat = self._stat(path)
        if is_missing:
            return None if stat is None else WatchEvent(Change.CREATED, path)
        if stat is None:
            return WatchEvent(Change.DELETED, path)
        if kind is WatchKind.CHILDREN:
            return WatchEvent(Change.CHILDREN, path) if stat.pzxid > seen else None
        return WatchEvent(Change.DATA, path) if stat.mzxid > seen else None

    # Who asks

    def prove(self, client: TreeClient[Watcher], reader: JuteReader) -> None:
        """A client says who it is; Refused if that is wrong."""
        reader.integer()
        scheme, proof = reader.text(), reader.buffer() or b""
        if scheme != DIGEST or len(client.ids) >= _PROOFS_MAX:
            raise Refused(Err.AUTH_FAILED)
        found = digest_id(proof)
        if found not in client.ids:
            client.ids.append(found)


def with_own_nodes(rows: Iterable[NodeRow]) -> list[NodeRow]:
    """The nodes of a tree, and those that every ZooKeeper has from the beginning."""
    found = list(rows)
    known = {row.path for row in found}
    own = [path for path in (RESERVED, *_OWN_NODES) if path not in known]
    return found + [NodeRow(path, b"", 0, 0, 0, 0, NO_SESSION, 0, 0) for path in own]


def _kind(number: int) -> WatchKind:
    try:
        return WatchKind(number)
    except ValueError:
        raise Refused(Err.BAD_ARGUMENTS) from None


def _known_as(somebody: Id) -> bytes:
    name = somebody.name.partition(":")[0] if somebody.scheme == DIGEST else somebody.name
    return jute.text(somebody.scheme) + jute.text(name)


def _masked(scheme: str, name: str) -> str:
    return f"{name.partition(':')[0]}:x" if scheme == DIGEST else name
