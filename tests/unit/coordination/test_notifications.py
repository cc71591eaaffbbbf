"""Notifications of changes: each is told once."""

from moldau.coordination.memory import MemoryEnsemble
from moldau.coordination.notifications import NOTIFICATION_KEPT_MS, Notifications
from moldau.coordination.tree import Create, WatchEvent
from unit.broker.world import SettableClock


async def test_each_is_told_once_and_the_watch_waits_for_more() -> None:
    clock = SettableClock()
    tree = MemoryEnsemble(clock).connect()
    await tree.create(Create("/changes"))
    notifications = Notifications(tree, "/changes")
    await tree.create(Create("/changes/change_", b"a", is_sequential=True))
    heard: list[WatchEvent] = []
    assert await notifications.new(watch=heard.append) == [b"a"]
    assert not heard
    await tree.create(Create("/changes/change_", b"b", is_sequential=True))
    await tree.create(Create("/changes/rubbish"))
    assert len(heard) == 1
    assert await notifications.new() == [b"b"]


async def test_an_old_one_is_removed_by_whoever_meets_it() -> None:
    clock = SettableClock()
    tree = MemoryEnsemble(clock).connect()
    await tree.create(Create("/changes"))
    await tree.create(Create("/changes/change_", b"a", is_sequential=True))
    clock.time_ms += NOTIFICATION_KEPT_MS
    await tree.create(Create("/changes/change_", b"b", is_sequential=True))
    assert await Notifications(tree, "/changes").new() == [b"a", b"b"]
    assert len(await tree.children("/changes")) == 2
    clock.time_ms += 1
    await tree.create(Create("/changes/change_", b"c", is_sequential=True))
    assert await Notifications(tree, "/changes").new() == [b"a", b"b", b"c"]
    assert len(await tree.children("/changes")) == 2


async def test_the_newest_stays_for_all_to_read_whatever_a_brokers_clock_says() -> None:
    clock = SettableClock()
    tree = MemoryEnsemble(clock).connect()
    await tree.create(Create("/changes"))
    await tree.create(Create("/changes/change_", b"a", is_sequential=True))
    clock.time_ms += 2 * NOTIFICATION_KEPT_MS
    assert await Notifications(tree, "/changes").new() == [b"a"]
    assert await Notifications(tree, "/changes").new() == [b"a"]
