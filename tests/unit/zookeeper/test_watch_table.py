"""Who is told of which change, and how often."""

import pytest

from moldau.coordination.tree import Change, WatchEvent
from moldau.zookeeper.watch_table import WatchKind, WatchTable

CREATED, DELETED = Change.CREATED, Change.DELETED


@pytest.fixture
def table() -> WatchTable[str]:
    return WatchTable()


def test_a_watch_is_told_once_in_the_order_of_watching(table: WatchTable[str]) -> None:
    for name in "bac":
        table.add(WatchKind.DATA, "/a", name)
    table.add(WatchKind.DATA, "/a", "a")
    assert (len(table), table.paths) == (3, 1)
    assert table.take(WatchEvent(Change.DATA, "/a")) == ["b", "a", "c"]
    assert table.take(WatchEvent(Change.DATA, "/a")) == []
    assert (len(table), table.paths) == (0, 0)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (WatchKind.DATA, {Change.CREATED, Change.DATA, Change.DELETED}),
        (WatchKind.CHILDREN, {Change.CHILDREN, Change.DELETED}),
        (WatchKind.PERSISTENT, {CREATED, Change.DATA, DELETED, Change.CHILDREN}),
        (WatchKind.RECURSIVE, {Change.CREATED, Change.DATA, Change.DELETED}),
    ],
)
def test_each_kind_has_its_changes(kind: WatchKind, told: set[Change]) -> None:
    for change in (Change.CREATED, Change.DATA, Change.DELETED, Change.CHILDREN):
        table: WatchTable[str] = WatchTable()
        table.add(kind, "/a", "x")
        assert (table.take(WatchEvent(change, "/a")) == ["x"]) == (change in told)


def test_who_watches_a_node_in_two_ways_is_told_of_its_end_once(table: WatchTable[str]) -> None:
    table.add(WatchKind.DATA, "/a", "x")
    table.add(WatchKind.CHILDREN, "/a", "x")
    assert table.take(WatchEvent(Change.DELETED, "/a")) == ["x"]
    assert len(table) == 0


def test_a_persistent_watch_stays(table: WatchTable[str]) -> None:
    table.add(WatchKind.PERSISTENT, "/a", "x")
    for _ in range(2):
        assert table.take(WatchEvent(Change.DATA, "/a")) == ["x"]
    assert table.take(WatchEvent(Change.DATA, "/a/b")) == []


def test_a_recursive_watch_hears_of_all_that_is_below(table: WatchTable[str]) -> None:
    table.add(WatchKind.RECURSIVE, "/", "root")
    table.add(WatchKind.RECURSIVE, "/a", "x")
    assert table.take(WatchEvent(Change.CREATED, "/a/b/c")) == ["x", "root"]
    assert table.take(WatchEvent(Change.CREATED, "/ab")) == ["root"]
    assert table.take(WatchEvent(Change.CHILDREN, "/a")) == []


def test_watches_are_removed_by_kind_or_all_at_once(table: WatchTable[str]) -> None:
    table.add(WatchKind.DATA, "/a", "x")
    table.add(WatchKind.RECURSIVE, "/a", "x")
    assert not table.remove(WatchKind.CHILDREN, "/a", "x")
    assert table.remove(WatchKind.DATA, "/a", "x")
    assert not table.has(WatchKind.DATA, "/a", "x")
    assert table.has(WatchKind.ANY, "/a", "x")
    assert table.remove(WatchKind.ANY, "/a", "x")
    assert not table.remove(WatchKind.ANY, "/a", "x")


def test_who_is_gone_is_told_nothing(table: WatchTable[str]) -> None:
    table.add(WatchKind.DATA, "/a", "x")
    table.add(WatchKind.RECURSIVE, "/", "x")
    table.add(WatchKind.DATA, "/a", "y")
    table.forget("x")
    table.forget("x")
    assert table.take(WatchEvent(Change.DATA, "/a")) == ["y"]
