"""Requests that change the tree: what is read, permitted and answered."""

import pytest

from moldau.coordination.nodes import Nodes, SetAcls
from moldau.coordination.tree import Check, Create, Delete, NoNode, NotAllowed, SetData
from moldau.zookeeper import jute
from moldau.zookeeper.jute import JuteReader, Malformed
from moldau.zookeeper.messages import Err, Op, Refused
from moldau.zookeeper.operations import (
    NoPath,
    RefusedOperation,
    is_path,
    multi_refusal,
    op_of,
    permission,
    read_multi,
    read_operation,
    several_reads,
)
from moldau.zookeeper.rights import Entry, Id, stored_text
from unit.zookeeper.asking import END, acls, create, part, set_data, versioned, watched

ANYONE = [Id("world", "anyone")]


@pytest.mark.parametrize(
    ("op", "body", "operation"),
    [
        (Op.CREATE, create("/a", b"x", 3), Create("/a", b"x", True, True)),
        (Op.CREATE2, create("/a", None), Create("/a", None)),
        (Op.DELETE, versioned("/a", 2), Delete("/a", 2)),
        (Op.SET_DATA, set_data("/a", b"x", 3), SetData("/a", b"x", 3)),
        (Op.CHECK, versioned("/a", 4), Check("/a", 4)),
        (
            Op.SET_ACL,
            jute.text("/a") + acls((1, "world", "anyone")) + jute.integer(5),
            SetAcls("/a", stored_text([Entry(1, "world", "anyone")], []), 5),
        ),
    ],
)
def test_an_operation_is_read(op: Op, body: bytes, operation: object) -> None:
    assert read_operation(op, JuteReader(body), ANYONE).operation == operation


@pytest.mark.parametrize(
    ("op", "body", "code"),
    [
        (Op.CREATE, create("a"), Err.BAD_ARGUMENTS),
        (Op.CREATE, create("/a", flags=4), Err.UNIMPLEMENTED),
        (Op.CREATE, create("/a", acls=acls()), Err.INVALID_ACL),
        (Op.DELETE, versioned("/"), Err.BAD_ARGUMENTS),
        (Op.DELETE, versioned("/zookeeper/quota"), Err.BAD_ARGUMENTS),
        (Op.SET_DATA, set_data("/a/", b""), Err.BAD_ARGUMENTS),
        (Op.CHECK, versioned("/a//b"), Err.BAD_ARGUMENTS),
    ],
)
def test_what_cannot_be_done_is_refused(op: Op, body: bytes, code: Err) -> None:
    with pytest.raises(Refused) as refused:
        read_operation(op, JuteReader(body), ANYONE)
    assert refused.value.code == code


@pytest.mark.parametrize("path", ["", "a", "/a/", "//", "/a//b", "/a/./b", "/..", "/a\0", "/\x1f"])
def test_what_is_no_path(path: str) -> None:
    assert not is_path(path)
    assert is_path("/")
    assert is_path("/a/.b/ü")


def test_an_unknown_number_is_told_as_such() -> None:
    with pytest.raises(Refused) as refused:
        op_of(9999)
    assert refused.value.code == Err.UNIMPLEMENTED


def test_one_of_several_that_is_refused_keeps_its_place() -> None:
    body = part(Op.CREATE, create("/a")) + part(Op.SET_DATA, set_data("/a/", b""))
    asked = read_multi(JuteReader(body + part(Op.CHECK, versioned("/b")) + END), ANYONE)
    assert [each.operation for each in asked] == [
        Create("/a", b""),
        RefusedOperation(Err.BAD_ARGUMENTS),
        Check("/b"),
    ]


def test_only_operations_are_among_operations_and_reads_among_reads() -> None:
    with pytest.raises(Malformed):
        read_multi(JuteReader(part(Op.GET_DATA, watched("/a")) + END), ANYONE)
    with pytest.raises(Malformed):
        several_reads(JuteReader(part(Op.DELETE, versioned("/a")) + END))
    found = several_reads(JuteReader(part(Op.GET_CHILDREN, watched("/a")) + END))
    assert found == [(Op.GET_CHILDREN, "/a")]


def nodes_with_rights(right: int) -> Nodes:
    nodes = Nodes()
    stored = stored_text([Entry(right, "world", "anyone")], [])
    nodes.apply([Create("/a", acls=stored), Create("/a/b")], session_id=1, now_ms=0)
    return nodes


@pytest.mark.parametrize(
    ("right", "operation"),
    [
        (1, Check("/a")),
        (2, SetData("/a", b"")),
        (4, Create("/a/c")),
        (8, Delete("/a/b")),
        (16, SetAcls("/a", "")),
    ],
)
def test_each_operation_needs_its_right(
    right: int, operation: Check | SetData | Create | Delete | SetAcls
) -> None:
    permission(nodes_with_rights(right), ANYONE)(operation)
    with pytest.raises(NotAllowed):
        permission(nodes_with_rights(31 - right), ANYONE)(operation)


def test_a_missing_parent_is_told_before_a_path_that_is_none() -> None:
    permit = permission(Nodes(), ANYONE)
    with pytest.raises(NoNode):
        permit(Create("/a/"))
    with pytest.raises(NoPath):
        permit(Create("//"))
    permit(Create("/", is_sequential=True))


def test_of_several_that_were_refused_each_has_a_code() -> None:
    reader = JuteReader(multi_refusal(3, 1, Err.NO_NODE))
    codes = []
    for _ in range(3):
        assert (reader.integer(), reader.flag()) == (-1, False)
        codes.append((reader.integer(), reader.integer()))
    assert codes == [(0, 0), (-101, -101), (-2, -2)]
    assert (reader.integer(), reader.flag()) == (-1, True)
