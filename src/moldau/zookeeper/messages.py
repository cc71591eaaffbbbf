"""ZooKeeper's messages: requests as they are read, and answers as they are written."""

import struct
from dataclasses import dataclass, field
from enum import IntEnum

from moldau.coordination.tree import Change, NodeStat, WatchEvent
from moldau.zookeeper import jute
from moldau.zookeeper.jute import JuteReader

NOTIFICATION_XID = -1
PING_XID = -2
AUTH_XID = -4
SET_WATCHES_XID = -8
PASSWORD_BYTES = 16


class Op(IntEnum):
    """What a request asks for."""

    CREATE = 1
    DELETE = 2
    EXISTS = 3
    GET_DATA = 4
    SET_DATA = 5
    GET_ACL = 6
    SET_ACL = 7
    GET_CHILDREN = 8
    SYNC = 9
    PING = 11
    GET_CHILDREN2 = 12
    CHECK = 13
    MULTI = 14
    CREATE2 = 15
    CHECK_WATCHES = 17
    REMOVE_WATCHES = 18
    MULTI_READ = 22
    AUTH = 100
    SET_WATCHES = 101
    GET_EPHEMERALS = 103
    GET_ALL_CHILDREN_NUMBER = 104
    SET_WATCHES2 = 105
    ADD_WATCH = 106
    WHO_AM_I = 107
    CLOSE_SESSION = -11


class Err(IntEnum):
    """Why a request was refused."""

    OK = 0
    SYSTEM_ERROR = -1
    RUNTIME_INCONSISTENCY = -2
    MARSHALLING_ERROR = -5
    UNIMPLEMENTED = -6
    BAD_ARGUMENTS = -8
    NO_NODE = -101
    NO_AUTH = -102
    BAD_VERSION = -103
    NO_CHILDREN_FOR_EPHEMERALS = -108
    NODE_EXISTS = -110
    NOT_EMPTY = -111
    SESSION_EXPIRED = -112
    INVALID_ACL = -114
    AUTH_FAILED = -115
    NO_WATCHER = -121


class Refused(Exception):
    """A request that gets an error for its answer."""

    def __init__(self, code: Err) -> None:
        super().__init__(code.name)
        self.code = code


@dataclass(frozen=True, slots=True)
class ConnectRequest:
    """The first message of a connection."""

    last_zxid: int
    timeout_ms: int
    session_id: int
    """0 asks for a new session."""
    password: bytes = field(repr=False)
    has_read_only: bool
    """Newer clients say whether they would read from a server that cannot write."""


def read_connect(data: memoryview) -> ConnectRequest:
    """Read the first message."""
    reader = JuteReader(data)
    reader.integer()  # the version of the protocol, which has always been 0
    last_zxid, timeout_ms, session_id = reader.long(), reader.integer(), reader.long()
    password = reader.buffer() or b""
    has_read_only = reader.left > 0
    return ConnectRequest(last_zxid, timeout_ms, session_id, password, has_read_only)


def connect_answer(request: ConnectRequest, session_id: int, password: bytes, ms: int) -> bytes:
    """The answer to it; a timeout of 0 says that the session is not there any more."""
    body = jute.integer(0) + jute.integer(ms) + jute.long(session_id) + jute.buffer(password)
    return framed(body + jute.flag(False) if request.has_read_only else body)


# What every answer begins with: its length, and whose answer it is.
_REPLY = struct.Struct(">iiqi")
_STAT = struct.Struct(">qqqqiiiqiiq")
_INTEGER_BYTES = 4


def framed(body: bytes) -> bytes:
    """A message after its length."""
    return jute.integer(len(body)) + body


def reply(xid: int, zxid: int, error: Err, body: bytes = b"") -> bytes:
    """The answer to a request."""
    return _REPLY.pack(_REPLY.size - _INTEGER_BYTES + len(body), xid, zxid, error) + body


_EVENT_TYPES = {Change.CREATED: 1, Change.DELETED: 2, Change.DATA: 3, Change.CHILDREN: 4}
_CONNECTED = 3
NO_ZXID = -1


def notification(event: WatchEvent) -> bytes:
    """What a watch was waiting for."""
    kind = jute.integer(_EVENT_TYPES[event.change])
    body = kind + jute.integer(_CONNECTED) + jute.text(event.path)
    return reply(NOTIFICATION_XID, NO_ZXID, Err.OK, body)


def stat_bytes(stat: NodeStat, data: bytes | None) -> bytes:
    """What is known about a node."""
    return _STAT.pack(
        stat.czxid,
        stat.mzxid,
        stat.created_ms,
        stat.changed_ms,
        stat.version,
        stat.children_version,
        stat.acl_version,
        stat.ephemeral_owner,
        len(data or b""),
        stat.children_count,
        stat.pzxid,
    )
