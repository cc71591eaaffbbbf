"""The nodes of a tree in memory: rows and events of a transaction."""

import pytest

from moldau.coordination.nodes import Nodes, TreeTransaction
from moldau.coordination.tree import (
    Change,
    Check,
    Create,
    Delete,
    NoNode,
    Operation,
    SetData,
    WatchEvent,
)


def _apply(nodes: Nodes, *operations: Operation, session_id: int = 1) -> TreeTransaction:
    return nodes.apply(operations, session_id=session_id, now_ms=5)


def test_a_transaction_names_every_row_that_changed() -> None:
    nodes = Nodes()
    transaction = _apply(nodes, Create("/a"), SetData("/a", b"1"), Create("/a/b"), Delete("/a/b"))
    assert set(transaction.rows) == {"/", "/a", "/a/b"}
    assert transaction.rows["/a/b"] is None
    row = transaction.rows["/a"]
    assert row is not None
    assert (row.data, row.children_created) == (b"1", 1)
    assert transaction.zxid == nodes.last_zxid == 1


def test_events_come_in_the_order_of_the_changes() -> None:
    transaction = _apply(Nodes(), Create("/a"), SetData("/a", b""), Delete("/a"))
    assert transaction.events == [
        WatchEvent(Change.CREATED, "/a"),
        WatchEvent(Change.CHILDREN, "/"),
        WatchEvent(Change.DATA, "/a"),
        WatchEvent(Change.DELETED, "/a"),
        WatchEvent(Change.CHILDREN, "/"),
    ]


def test_a_transaction_that_changes_nothing_uses_no_transaction_id() -> None:
    nodes = Nodes()
    assert _apply(nodes, Check("/")).rows == {}
    with pytest.raises(NoNode):
        _apply(nodes, Create("/a"), Check("/b"))
    assert nodes.last_zxid == 0
    assert nodes.children("/") == []


def test_nodes_are_built_from_rows() -> None:
    nodes = Nodes()
    rows = _apply(nodes, Create("/a", b"1"), Create("/a/b", is_ephemeral=True)).rows
    again = Nodes(filter(None, rows.values()), last_zxid=nodes.last_zxid)
    assert again.get("/a") == nodes.get("/a")
    assert again.children("/a") == ["b"]
    assert again.sessions() == [1]


def test_a_node_may_have_any_number_of_children() -> None:
    nodes = Nodes()
    for count, name in enumerate("cab", start=1):
        _apply(nodes, Create(f"/{name}"))
        assert nodes.children("/") == sorted("cab"[:count])
    with pytest.raises(NoNode):
        _apply(nodes, Delete("/c"), Delete("/a"), Delete("/b"), Check("/c"))
    for name in "abc":
        assert nodes.children("/") == list("abc"["abc".index(name) :])
        with pytest.raises(NoNode):
            _apply(nodes, Delete(f"/{name}"), Check("/missing"))
        _apply(nodes, Delete(f"/{name}"))
    stat = nodes.get("/").stat
    assert (nodes.children("/"), stat.children_count, stat.children_version) == ([], 0, 6)


def test_the_end_of_a_session_deletes_only_its_own_nodes() -> None:
    nodes = Nodes()
    _apply(nodes, Create("/a"), Create("/mine", is_ephemeral=True))
    _apply(nodes, Create("/other", is_ephemeral=True), session_id=2)
    transaction = nodes.end_session(1, now_ms=9)
    assert set(transaction.rows) == {"/mine", "/"}
    assert transaction.rows["/mine"] is None
    assert nodes.children("/") == ["a", "other"]
    assert nodes.end_session(1, now_ms=9).rows == {}


@pytest.mark.parametrize("path", ["", "a", "/a/", "//a", "/a//b"])
def test_a_path_that_is_none_is_a_mistake_of_the_program(path: str) -> None:
    with pytest.raises(AssertionError):
        Nodes().exists(path)
