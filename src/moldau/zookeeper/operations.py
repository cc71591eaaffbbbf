"""Requests that change the tree: read, permitted, done, and answered."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from moldau.coordination.nodes import NodeRow, Nodes, SetAcls, StoredOperation, TreeTransaction
from moldau.coordination.tree import (
    BadVersion,
    Check,
    Create,
    Delete,
    NoChildrenForEphemerals,
    NodeExists,
    NodeStat,
    NoNode,
    NotAllowed,
    NotEmpty,
    Result,
    SetData,
    TreeError,
    parent_path,
)
from moldau.zookeeper import jute
from moldau.zookeeper.jute import JuteReader, Malformed
from moldau.zookeeper.messages import Err, Op, Refused, stat_bytes
from moldau.zookeeper.rights import Id, NodeRight, is_allowed, read_entries, stored_text

RESERVED = "/zookeeper"


class NoPath(TreeError):
    """No node can have this path."""


_EPHEMERAL, _SEQUENTIAL = 1, 2
_FLAGS_MAX = _EPHEMERAL | _SEQUENTIAL
_ERROR = -1
# As ZooKeeper has it: control characters, and what is no character.
_FORBIDDEN = re.compile("[\0-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")
_OPERATIONS_MAX = 10_000
_NEVER = Check("/")
"""In the place of an operation that cannot be done."""
_ERRORS: dict[type[TreeError], Err] = {
    NoNode: Err.NO_NODE,
    NodeExists: Err.NODE_EXISTS,
    BadVersion: Err.BAD_VERSION,
    NotEmpty: Err.NOT_EMPTY,
    NoChildrenForEphemerals: Err.NO_CHILDREN_FOR_EPHEMERALS,
    NotAllowed: Err.NO_AUTH,
    NoPath: Err.BAD_ARGUMENTS,
}


@dataclass(frozen=True, slots=True)
class RefusedOperation:
    """One of several that cannot be done, whatever the tree is like."""

    code: Err


@dataclass(frozen=True, slots=True)
class Asked:
    """An operation, and in which form its result is wanted."""

    op: Op
    operation: "StoredOperation | RefusedOperation"


def error_of(error: TreeError) -> Err:
    """ZooKeeper's number for a refusal."""
    return _ERRORS[type(error)]


def is_path(path: str) -> bool:
    """Whether a node can have this path; what a sequence numbers has its number by then."""
    parts = path[1:].split("/")
    is_one = path == "/" or (path.startswith("/") and all(parts))
    return is_one and not _FORBIDDEN.search(path) and {".", ".."}.isdisjoint(parts)


def read_operation(op: Op, reader: JuteReader, proved: Sequence[Id]) -> Asked:
    """The operation of a request, or of a part of one.

    Everything is read before anything is refused: another part may follow.
    """
    match op:
        case Op.CREATE | Op.CREATE2:
            return Asked(op, _read_create(reader, proved))
        case Op.DELETE:
            path, version = reader.text(), reader.integer()
            if path == "/" or is_reserved(path):
                raise Refused(Err.BAD_ARGUMENTS)
            return Asked(op, Delete(path, version))
        case Op.SET_DATA:
            path, data, version = reader.text(), reader.buffer(), reader.integer()
            return Asked(op, SetData(_checked(path), data, version))
        case Op.CHECK:
            path, version = reader.text(), reader.integer()
            return Asked(op, Check(_checked(path), version))
        case Op.SET_ACL:
            path, entries, version = reader.text(), read_entries(reader), reader.integer()
            return Asked(op, SetAcls(_checked(path), stored_text(entries, proved), version))
        case _:
            raise Malformed(f"{op.name} among operations")


def is_reserved(path: str) -> bool:
    """Whether a path is the server's own."""
    return path == RESERVED or path.startswith(f"{RESERVED}/")


def _checked(path: str) -> str:
    if not is_path(path):
        raise Refused(Err.BAD_ARGUMENTS)
    return path


def _read_create(reader: JuteReader, proved: Sequence[Id]) -> Create:
    path, data, entries = reader.text(), reader.buffer(), read_entries(reader)
    flags = reader.integer()
    if not 0 <= flags <= _FLAGS_MAX:
        raise Refused(Err.UNIMPLEMENTED)  # containers, and nodes that live for a while
    is_sequential = bool(flags & _SEQUENTIAL)
    if not path.startswith("/"):
        raise Refused(Err.BAD_ARGUMENTS)
    acls = stored_text(entries, proved)
    return Create(path, data, bool(flags & _EPHEMERAL), is_sequential, acls)


def read_multi(reader: JuteReader, proved: Sequence[Id]) -> list[Asked]:
    """The operations of a request that has several."""
    asked: list[Asked] = []
    while True:
        number, is_over, _ = reader.integer(), reader.flag(), reader.integer()
        if is_over:
            return asked
        if len(asked) == _OPERATIONS_MAX:
            raise Refused(Err.BAD_ARGUMENTS)
        op = op_of(number)
        try:
            asked.append(read_operation(op, reader, proved))
        except Refused as error:
            # Its turn to be refused comes after those before it.
            asked.append(Asked(op, RefusedOperation(error.code)))


def op_of(number: int) -> Op:
    """What a number asks for; Refused if it is not known."""
    try:
        return Op(number)
    except ValueError:
        raise Refused(Err.UNIMPLEMENTED) from None


def permission(nodes: Nodes, ids: Sequence[Id]) -> Callable[[StoredOperation], None]:
    """Refuses what these may not do, by the lists of the nodes as they are then."""

    def permit(operation: StoredOperation) -> None:
        if operation is _NEVER:
            raise NotAllowed("/")
        match operation:
            case Create(path):
                needed, where = NodeRight.CREATE, parent_path(path)
            case Delete(path):
                needed, where = NodeRight.DELETE, parent_path(path)
            case SetData(path):
                needed, where = NodeRight.WRITE, path
            case SetAcls(path):
                needed, where = NodeRight.ADMIN, path
            case Check(path):
                needed, where = NodeRight.READ, path
        if not is_allowed(_existing(nodes, where).acls, needed, ids):
            raise NotAllowed(where)
        if isinstance(operation, Create) and not is_path(_numbered(operation)):
            raise NoPath(operation.path)  # only after a missing parent, as with ZooKeeper
        if isinstance(operation, Delete) and not is_path(operation.path):
            raise NoNode(operation.path)

    return permit


def _existing(nodes: Nodes, path: str) -> NodeRow:
    if not is_path(path):
        raise NoNode(path)
    return nodes.row(path)


def _numbered(operation: Create) -> str:
    return f"{operation.path}0" if operation.is_sequential else operation.path


def result_bytes(asked: Asked, result: Result, nodes: Nodes) -> bytes:
    """What the client of an operation gets, right after it was done."""
    match asked.op:
        case Op.CREATE | Op.CREATE2:
            assert isinstance(result, str)
            if asked.op is Op.CREATE:
                return jute.text(result)
            stat = nodes.exists(result)
            # Within several operations a later one may have deleted it.
            known = b"" if stat is None else stat_bytes(stat, nodes.row(result).data)
            return jute.text(result) + (known or bytes(68))
        case Op.SET_DATA | Op.SET_ACL:
            assert isinstance(result, NodeStat)
            operation = asked.operation
            data = operation.data if isinstance(operation, SetData) else None
            if isinstance(operation, SetAcls):
                data = nodes.row(operation.path).data
            return stat_bytes(result, data)
        case _:
            return b""


def multi_answer(asked: Sequence[Asked], transaction: TreeTransaction, nodes: Nodes) -> bytes:
    """The results of several operations that were done."""
    parts = [
        result_header(each.op) + result_bytes(each, result, nodes)
        for each, result in zip(asked, transaction.results, strict=True)
    ]
    return b"".join(parts) + end_of_results()


def stored_operations(asked: Sequence[Asked]) -> list[StoredOperation]:
    """What the store does together; nobody is permitted what cannot be done."""
    return [
        _NEVER if isinstance(each.operation, RefusedOperation) else each.operation for each in asked
    ]


def refusal_of(asked: Asked, error: TreeError) -> Err:
    """Why one of several was not done."""
    operation = asked.operation
    return operation.code if isinstance(operation, RefusedOperation) else error_of(error)


def multi_refusal(count: int, failed: int, error: Err) -> bytes:
    """What is said of several operations of which one was refused: none was done."""
    codes = [Err.OK] * failed + [error] + [Err.RUNTIME_INCONSISTENCY] * (count - failed - 1)
    return b"".join(map(error_result, codes)) + end_of_results()


def error_result(error: Err) -> bytes:
    """The result of one of several that was not done."""
    return jute.integer(_ERROR) + jute.flag(False) + jute.integer(error) + jute.integer(error)


def result_header(op: Op) -> bytes:
    """What precedes a result of several."""
    return jute.integer(op) + jute.flag(False) + jute.integer(Err.OK)


def end_of_results() -> bytes:
    """What follows the last of several."""
    return jute.integer(_ERROR) + jute.flag(True) + jute.integer(_ERROR)


def several_reads(reader: JuteReader) -> list[tuple[Op, str]]:
    """What a request asks for that reads several nodes."""
    found: list[tuple[Op, str]] = []
    while True:
        number, is_over, _ = reader.integer(), reader.flag(), reader.integer()
        if is_over:
            return found
        op = op_of(number)
        if op not in (Op.GET_DATA, Op.GET_CHILDREN):
            raise Malformed(f"{op.name} among reads")
        found.append((op, reader.text()))
        reader.flag()
