"""Messages of the output plugin pgoutput, protocol version 1, which a replication stream carries.

The first byte is the kind: B(egin), C(ommit), O(rigin), R(elation), Y (a type), I(nsert),
U(pdate), D(elete), T(runcate) and M (a logical message). Numbers are big-endian, names end with a
zero byte, times are microseconds since 2000-01-01. Values of columns are PostgreSQL's texts.
"""

import struct
from dataclasses import dataclass

from moldau.connect.connectors.capture.cells import Cell, Cells, Toast
from moldau.connect.connectors.postgresql.frames import EPOCH_2000_US
from moldau.errors import ProtocolError


@dataclass(frozen=True, slots=True)
class BeginMessage:
    """A transaction begins; what follows is its, until its commit."""

    final_lsn: int
    """Where its commit is."""
    time_us: int
    xid: int


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """The transaction ends."""

    commit_lsn: int
    end_lsn: int
    """What follows it in the log."""
    time_us: int


@dataclass(frozen=True, slots=True)
class OriginMessage:
    """The transaction came from elsewhere, by replication."""

    lsn: int
    name: str


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column of a table."""

    name: str
    type_oid: int
    typmod: int
    is_identity: bool
    """Whether it is part of the replica identity."""


@dataclass(frozen=True, slots=True)
class RelationMessage:
    """A table as it is from here on."""

    oid: int
    schema: str
    name: str
    identity: str
    """`d` default, `n` nothing, `f` full, `i` an index."""
    columns: tuple[RelationColumn, ...]


@dataclass(frozen=True, slots=True)
class TypeMessage:
    """The name of a type that is not built in."""

    oid: int
    schema: str
    name: str


@dataclass(slots=True)
class InsertMessage:
    """A new row."""

    oid: int
    new: Cells


@dataclass(slots=True)
class UpdateMessage:
    """A changed row; `old` is there with a full identity, or where the key changed."""

    oid: int
    old: Cells | None
    has_full_old: bool
    new: Cells


@dataclass(slots=True)
class DeleteMessage:
    """A row that is gone: all of it with a full identity, or its key alone."""

    oid: int
    old: Cells
    has_full_old: bool


@dataclass(frozen=True, slots=True)
class TruncateMessage:
    """Tables that were emptied."""

    oids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LogicalMessage:
    """What pg_logical_emit_message wrote."""

    is_transactional: bool
    lsn: int
    prefix: str
    content: bytes


Message = (
    BeginMessage
    | CommitMessage
    | OriginMessage
    | RelationMessage
    | TypeMessage
    | InsertMessage
    | UpdateMessage
    | DeleteMessage
    | TruncateMessage
    | LogicalMessage
)

_BEGIN, _COMMIT = struct.Struct(">qqi"), struct.Struct(">bqqq")
_INT64, _UINT32 = struct.Struct(">q"), struct.Struct(">I")
_size_at = _UINT32.unpack_from
_INT16, _INT32 = struct.Struct(">h"), struct.Struct(">i")
_TEXT, _NULL, _UNCHANGED = ord("t"), ord("n"), ord("u")


def decode_message(data: bytes) -> Message:
    """One message; ProtocolError for anything else."""
    try:
        reader = _Reader(data)
        found = _KINDS[reader.byte()](reader)
    except KeyError as error:
        raise ProtocolError(f"pgoutput: {data[:1]!r} is no kind of message") from error
    except (struct.error, IndexError, ValueError) as error:
        raise ProtocolError(f"pgoutput: a broken message of kind {data[:1]!r}: {error}") from error
    if reader.at != len(data):
        raise ProtocolError(f"pgoutput: {len(data) - reader.at} bytes too many in {data[:1]!r}")
    return found


class _Reader:
    """Takes values from bytes, from left to right."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def take(self, layout: struct.Struct) -> int:
        (found,) = layout.unpack_from(self.data, self.at)
        self.at += layout.size
        return int(found)

    def name(self) -> str:
        end = self.data.index(0, self.at)
        found = self.data[self.at : end].decode()
        self.at = end + 1
        return found

    def content(self) -> bytes:
        size = self.take(_UINT32)
        end = self.at + size
        if end > len(self.data):
            raise IndexError(f"{size} bytes are announced, and not there")
        found = self.data[self.at : end]
        self.at = end
        return found

    def cells(self) -> Cells:
        # Most of the time goes here, so it calls no methods.
        found: list[Cell] = []
        count = self.take(_INT16)
        data, at, end = self.data, self.at, len(self.data)
        for _ in range(count):
            kind = data[at]
            at += 1
            if kind == _TEXT:
                (size,) = _size_at(data, at)
                start = at + _UINT32.size
                at = start + size
                if at > end:
                    raise IndexError(f"{size} bytes are announced, and not there")
                found.append(data[start:at].decode())
            elif kind == _NULL:
                found.append(None)
            elif kind == _UNCHANGED:
                found.append(Toast.UNCHANGED)
            else:
                raise ValueError(f"{chr(kind)!r} is no kind of value")
        self.at = at
        return found


def _begin(reader: _Reader) -> Message:
    final_lsn, time, xid = _BEGIN.unpack_from(reader.data, reader.at)
    reader.at += _BEGIN.size
    return BeginMessage(final_lsn, time + EPOCH_2000_US, xid & 0xFFFFFFFF)


def _commit(reader: _Reader) -> Message:
    _, commit_lsn, end_lsn, time = _COMMIT.unpack_from(reader.data, reader.at)
    reader.at += _COMMIT.size
    return CommitMessage(commit_lsn, end_lsn, time + EPOCH_2000_US)


def _origin(reader: _Reader) -> Message:
    return OriginMessage(reader.take(_INT64), reader.name())


def _relation(reader: _Reader) -> Message:
    oid, schema, name = reader.take(_UINT32), reader.name(), reader.name()
    identity = chr(reader.byte())
    columns = []
    for _ in range(reader.take(_INT16)):
        flags, column = reader.byte(), reader.name()
        type_oid, typmod = reader.take(_UINT32), reader.take(_INT32)
        columns.append(RelationColumn(column, type_oid, typmod, bool(flags & 1)))
    return RelationMessage(oid, schema or "pg_catalog", name, identity, tuple(columns))


def _type(reader: _Reader) -> Message:
    return TypeMessage(reader.take(_UINT32), reader.name(), reader.name())


def _insert(reader: _Reader) -> Message:
    oid = reader.take(_UINT32)
    _expect(reader, "N")
    return InsertMessage(oid, reader.cells())


def _update(reader: _Reader) -> Message:
    oid = reader.take(_UINT32)
    kind = _expect(reader, "KON")
    if kind == "N":
        return UpdateMessage(oid, None, False, reader.cells())
    old = reader.cells()
    _expect(reader, "N")
    return UpdateMessage(oid, old, kind == "O", reader.cells())


def _delete(reader: _Reader) -> Message:
    oid = reader.take(_UINT32)
    kind = _expect(reader, "KO")
    return DeleteMessage(oid, reader.cells(), kind == "O")


def _truncate(reader: _Reader) -> Message:
    count = reader.take(_UINT32)
    reader.byte()  # CASCADE and RESTART IDENTITY: nothing that a reader of rows need know
    if 4 * count > len(reader.data):
        raise IndexError(f"{count} tables are announced, and not there")
    return TruncateMessage(tuple(reader.take(_UINT32) for _ in range(count)))


def _logical(reader: _Reader) -> Message:
    is_transactional = bool(reader.byte() & 1)
    lsn, prefix = reader.take(_INT64), reader.name()
    return LogicalMessage(is_transactional, lsn, prefix, reader.content())


def _expect(reader: _Reader, kinds: str) -> str:
    kind = chr(reader.byte())
    if kind not in kinds:
        raise ValueError(f"{kind!r} is none of {kinds}")
    return kind


_KINDS = {
    ord("B"): _begin,
    ord("C"): _commit,
    ord("O"): _origin,
    ord("R"): _relation,
    ord("Y"): _type,
    ord("I"): _insert,
    ord("U"): _update,
    ord("D"): _delete,
    ord("T"): _truncate,
    ord("M"): _logical,
}
