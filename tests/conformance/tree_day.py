"""A day of two sessions with a tree, drawn by lot, and what both of them hear."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from moldau.zookeeper import jute
from moldau.zookeeper.jute import JuteReader
from moldau.zookeeper.messages import AUTH_XID, NOTIFICATION_XID, Op
from moldau.zookeeper.wire_session import Received, WireSession

_HOST = "127.0.0.1"
_PATHS = ["/a", "/b", "/a/x", "/a/y", "/a/x/1", "/a/x/2", "/b/z", "/c", "/", "/a/"]
# Persistent watches have paths of their own: until 3.9 ZooKeeper keeps one mode for each path.
_PERSISTENT = {"/": 1, "/b": 0, "/a/x": 1}
_WATCHED = [path for path in _PATHS if path not in _PERSISTENT]
_VERSIONS = [-1, -1, -1, 0, 1, 2]
_USERS = [b"ann:one", b"bob:two", b"nobody"]
_SET_WATCHES_XID = -8
_ACLS = [
    *[[(31, "world", "anyone")]] * 5,
    [(31, "auth", "")],
    [(1, "world", "anyone"), (30, "auth", "")],
    [(31, "digest", "ann:grDcJ7OS1jCu/cG2TyJHw/I9L8o=")],
    [(27, "world", "anyone")],
    [(31, "digest", "rubbish")],
    [(31, "ip", "127.0.0.0/8")],
    [(31, "nobody", "knows")],
    [],
]
# How often each thing is done. CHECK_WATCHES is left out: until 3.9 ZooKeeper says yes where
# another client watches.
_DEEDS = {
    "create": 24,
    "create2": 8,
    "delete": 14,
    "exists": 8,
    "get": 10,
    "children": 10,
    "children2": 4,
    "set": 16,
    "get_acl": 4,
    "set_acl": 5,
    "sync": 1,
    "multi": 14,
    "multi_read": 3,
    "add_watch": 5,
    "remove_watches": 4,
    "auth": 3,
    "ephemerals": 2,
    "descendants": 2,
    "who_am_i": 1,
    "reconnect": 3,
    "leave": 2,
}


@dataclass(slots=True)
class TreeDay:
    """The same seed does the same, on whatever server."""

    port: int
    seed: int
    heard: list[tuple[str, object]] = field(default_factory=list)
    _random: random.Random = field(init=False)
    _sessions: list[WireSession] = field(init=False)
    _owners: dict[int, str] = field(default_factory=dict)
    _zxids: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._sessions = [WireSession(_HOST, self.port), WireSession(_HOST, self.port)]
        self._name_owners()

    def play(self, deeds: int) -> list[tuple[str, object]]:
        """Do so much; what was heard, with transactions numbered by the order of those seen."""
        for number in range(deeds):
            self._step(number)
        for session in self._sessions:
            session.ask(Op.CLOSE_SESSION, b"")
            session.cut()
        ranks = {zxid: rank for rank, zxid in enumerate(sorted(set(self._zxids)))}
        return [(what, _ranked(value, ranks)) for what, value in self.heard]

    def _step(self, number: int) -> None:
        who = self._random.randrange(2)
        deed = self._random.choices(list(_DEEDS), list(_DEEDS.values()))[0]
        what = f"{number} {deed} by {who}"
        session = self._sessions[who]
        if deed == "reconnect":
            session.cut()
            session.connect()
            self._hear(what, Op.SET_WATCHES2, self._ask_watches(session))
        elif deed == "leave":
            # Its nodes go in the order of a hash.
            self._hear(what, Op.CLOSE_SESSION, sorted(session.ask(Op.CLOSE_SESSION, b"")))
            session.cut()
            self._sessions[who] = WireSession(_HOST, self.port)
            self._name_owners()
        elif deed == "auth":
            user = self._random.choice(_USERS[:2])
            body = jute.integer(0) + jute.text("digest") + jute.buffer(user)
            self._hear(what, Op.AUTH, session.ask(Op.AUTH, body, xid=AUTH_XID))
        else:
            op, body = self._request(deed)
            self._hear(f"{what} {body!r}", op, session.ask(op, body))
        for each, one in enumerate(self._sessions):
            told = one.ping()
            order = sorted(told) if deed == "leave" else told
            self._hear(f"{number} told to {each}", Op.PING, order)

    def _ask_watches(self, session: WireSession) -> list[Received]:
        some = [self._random.choice(_WATCHED) for _ in range(4)]
        lists = [some[:2], some[2:3], some[3:], ["/b"], ["/"]]
        body = jute.long(session.last_zxid) + b"".join(map(jute.texts, lists))
        return session.ask(Op.SET_WATCHES2, body, xid=_SET_WATCHES_XID)

    def _name_owners(self) -> None:
        for who, session in enumerate(self._sessions):
            self._owners.setdefault(session.session_id, f"session {who}/{len(self._owners)}")

    # Requests

    def _path(self) -> str:
        return self._random.choice(_PATHS)

    def _version(self) -> bytes:
        return jute.integer(self._random.choice(_VERSIONS))

    def _watched(self) -> bytes:
        path = self._path()
        is_watched = path not in _PERSISTENT and self._random.random() < 0.6
        return jute.text(path) + jute.flag(is_watched)

    def _persistent(self) -> bytes:
        path = self._random.choice(list(_PERSISTENT))
        return jute.text(path) + jute.integer(_PERSISTENT[path])

    def _some_watch(self) -> bytes:
        path, kind = self._random.choice(_WATCHED), self._random.choice([1, 2, 3])
        if self._random.random() < 0.3:
            path, kind = self._random.choice(list(_PERSISTENT)), 3
        return jute.text(path) + jute.integer(kind)

    def _acls(self) -> bytes:
        entries = self._random.choice(_ACLS)
        lines = [
            jute.integer(n) + jute.text(scheme) + jute.text(name) for n, scheme, name in entries
        ]
        return jute.integer(len(entries)) + b"".join(lines)

    def _data(self) -> bytes:
        return jute.buffer(self._random.choice([None, b"", b"one", b"longer data"]))

    def _create(self) -> bytes:
        flags = self._random.choice([0, 0, 0, 1, 1, 2, 3])
        return jute.text(self._path()) + self._data() + self._acls() + jute.integer(flags)

    def _multi(self) -> bytes:
        parts = b""
        for _ in range(self._random.randint(1, 4)):
            op, body = self._request(self._random.choice(["create", "delete", "set", "check"]))
            parts += jute.integer(op) + jute.flag(False) + jute.integer(-1) + body
        return parts + jute.integer(-1) + jute.flag(True) + jute.integer(-1)

    def _multi_read(self) -> bytes:
        parts = b""
        for _ in range(2):
            op = self._random.choice([Op.GET_DATA, Op.GET_CHILDREN])
            header = jute.integer(op) + jute.flag(False) + jute.integer(-1)
            parts += header + jute.text(self._path()) + jute.flag(False)
        return parts + jute.integer(-1) + jute.flag(True) + jute.integer(-1)

    def _request(self, deed: str) -> tuple[Op, bytes]:
        path = jute.text(self._path())
        bodies: dict[str, tuple[Op, Callable[[], bytes]]] = {
            "create": (Op.CREATE, self._create),
            "create2": (Op.CREATE2, self._create),
            "delete": (Op.DELETE, lambda: path + self._version()),
            "exists": (Op.EXISTS, self._watched),
            "get": (Op.GET_DATA, self._watched),
            "children": (Op.GET_CHILDREN, self._watched),
            "children2": (Op.GET_CHILDREN2, self._watched),
            "set": (Op.SET_DATA, lambda: path + self._data() + self._version()),
            "check": (Op.CHECK, lambda: path + self._version()),
            "get_acl": (Op.GET_ACL, lambda: path),
            "set_acl": (Op.SET_ACL, lambda: path + self._acls() + self._version()),
            "sync": (Op.SYNC, lambda: path),
            "multi": (Op.MULTI, self._multi),
            "multi_read": (Op.MULTI_READ, self._multi_read),
            "add_watch": (Op.ADD_WATCH, self._persistent),
            "remove_watches": (Op.REMOVE_WATCHES, self._some_watch),
            "ephemerals": (Op.GET_EPHEMERALS, lambda: path),
            "descendants": (Op.GET_ALL_CHILDREN_NUMBER, lambda: path),
            "who_am_i": (Op.WHO_AM_I, lambda: b""),
        }
        op, body = bodies[deed]
        return op, body()

    # Answers

    def _hear(self, what: str, op: Op, received: list[Received]) -> None:
        for each in received:
            if each.xid == NOTIFICATION_XID:
                reader = JuteReader(each.body)
                told = ("event", reader.integer(), reader.integer(), reader.text())
                self.heard.append((what, told))
            else:
                body = self._read(op, JuteReader(each.body)) if not each.error else None
                self.heard.append((what, ("answer", each.error, body)))

    def _read(self, op: Op, reader: JuteReader) -> object:
        match op:
            case Op.CREATE | Op.SYNC:
                return reader.text()
            case Op.CREATE2:
                return reader.text(), self._stat(reader)
            case Op.EXISTS | Op.SET_DATA | Op.SET_ACL:
                return self._stat(reader)
            case Op.GET_DATA:
                return reader.buffer(), self._stat(reader)
            case Op.GET_CHILDREN | Op.GET_EPHEMERALS:
                return sorted(reader.texts())
            case Op.GET_CHILDREN2:
                return sorted(reader.texts()), self._stat(reader)
            case Op.GET_ACL:
                count = reader.integer()
                lines = [(reader.integer(), reader.text(), reader.text()) for _ in range(count)]
                return lines, self._stat(reader)
            case Op.MULTI | Op.MULTI_READ:
                return self._read_several(reader)
            case Op.WHO_AM_I:
                return sorted((reader.text(), reader.text()) for _ in range(reader.integer()))
            case Op.GET_ALL_CHILDREN_NUMBER | Op.ADD_WATCH:
                return reader.integer()
            case _:
                return reader.left

    def _read_several(self, reader: JuteReader) -> list[object]:
        found: list[object] = []
        while True:
            number, is_over, error = reader.integer(), reader.flag(), reader.integer()
            if is_over:
                return found
            if number == -1:
                found.append(("error", error, reader.integer()))
            else:
                found.append((number, self._read(Op(number), reader)))

    def _stat(self, reader: JuteReader) -> tuple[object, ...]:
        czxid, mzxid, ctime, mtime = (reader.long() for _ in range(4))
        version, cversion, aversion = (reader.integer() for _ in range(3))
        owner = self._owners.get(reader.long(), "nobody")
        length, children, pzxid = reader.integer(), reader.integer(), reader.long()
        self._zxids += [czxid, mzxid, pzxid]
        times = "at once" if ctime == mtime else "later" if czxid != mzxid else "impossible"
        numbers = (version, cversion, aversion, owner, length, children)
        return (*numbers, Zxid(czxid), Zxid(mzxid), Zxid(pzxid), times == "impossible")


class Zxid(int):
    """A transaction's number, of which only the order counts."""


def _ranked(value: object, ranks: dict[int, int]) -> object:
    if isinstance(value, Zxid):
        return f"transaction {ranks[int(value)]}"
    if isinstance(value, tuple | list):
        return [_ranked(each, ranks) for each in value]
    return value
