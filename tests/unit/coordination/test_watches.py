"""Watches of one session."""

from moldau.coordination.tree import Change, WatchEvent
from moldau.coordination.watches import Watches


def _watch(_event: WatchEvent) -> None:
    raise AssertionError("only taken here, never called")


def test_a_watch_is_taken_once_although_it_was_set_twice() -> None:
    watches = Watches()
    watches.on_data("/a", _watch)
    watches.on_data("/a", _watch)
    watches.on_children("/a", _watch)
    assert watches.take(WatchEvent(Change.DELETED, "/a")) == [_watch]
    assert watches.take(WatchEvent(Change.DELETED, "/a")) == []


def test_changes_of_data_and_of_children_end_different_watches() -> None:
    watches = Watches()
    watches.on_children("/a", _watch)
    assert watches.take(WatchEvent(Change.DATA, "/a")) == []
    assert watches.take(WatchEvent(Change.CHILDREN, "/b")) == []
    assert watches.take(WatchEvent(Change.CHILDREN, "/a")) == [_watch]


def test_no_watch_is_no_watch() -> None:
    watches = Watches()
    watches.on_data("/a", None)
    watches.on_children("/a", None)
    assert watches.take(WatchEvent(Change.DELETED, "/a")) == []


def test_all_watches_are_taken_with_their_paths() -> None:
    watches = Watches()
    watches.on_data("/a", _watch)
    watches.on_children("/a", _watch)
    watches.on_children("/b", _watch)
    assert watches.take_all() == [(_watch, "/a"), (_watch, "/b")]
    assert watches.take_all() == []
