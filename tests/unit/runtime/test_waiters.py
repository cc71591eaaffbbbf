"""Waiters: parked requests wake by key, time out, and leave nothing behind."""

import asyncio
from collections.abc import Callable, Hashable

import pytest

from moldau.runtime.waiters import Waiters


async def test_a_condition_that_holds_is_not_parked() -> None:
    waiters = Waiters()
    assert await waiters.until(lambda: True, keys=["a"], timeout_s=0)
    assert len(waiters) == 0


async def test_waking_a_key_lets_its_requests_look_again() -> None:
    waiters = Waiters()
    seen: list[int] = []
    parked = asyncio.ensure_future(waiters.until(lambda: bool(seen), keys=["a", "b"], timeout_s=30))
    await asyncio.sleep(0)
    assert len(waiters) == 1
    waiters.wake("a")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not parked.done()
    seen.append(1)
    waiters.wake("b")
    assert await parked
    assert len(waiters) == 0


async def test_a_wake_of_another_key_is_not_noticed() -> None:
    waiters = Waiters()
    checks: list[None] = []

    def never() -> bool:
        checks.append(None)
        return False

    parked = asyncio.ensure_future(waiters.until(never, keys=["a"], timeout_s=30))
    await asyncio.sleep(0)
    waiters.wake("z")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(checks) == 1
    parked.cancel()
    await asyncio.gather(parked, return_exceptions=True)
    assert len(waiters) == 0


async def test_when_the_time_is_up_the_answer_is_no() -> None:
    waiters = Waiters()
    assert not await waiters.until(lambda: False, keys=["a"], timeout_s=0.01)
    assert len(waiters) == 0


async def test_no_time_at_all_means_no_waiting() -> None:
    waiters = Waiters()
    assert not await waiters.until(lambda: False, keys=["a"], timeout_s=0)


async def test_the_parked_are_counted_by_what_they_wait_for() -> None:
    waiters = Waiters()
    waiting = [
        asyncio.create_task(
            waiters.until(lambda: False, keys=["k"], timeout_s=60, operation=operation)
        )
        for operation in ("Fetch", "Fetch", "Produce")
    ]
    await asyncio.sleep(0)
    assert (waiters.counts["Fetch"], waiters.counts["Produce"], len(waiters)) == (2, 1, 3)
    for one in waiting:
        one.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert len(waiters) == 0


async def test_a_watch_names_what_has_happened_since_the_last_look() -> None:
    waiters = Waiters()
    watch = waiters.watch()
    for key in ("a", "b", "c"):
        watch.add(key)
    for key in ("b", "a", "b", "elsewhere"):
        waiters.wake(key)
    assert watch.take() == ["b", "a"]
    assert watch.take() == []


async def test_what_is_watched_no_longer_is_not_named() -> None:
    waiters = Waiters()
    watch, other = waiters.watch(), waiters.watch()
    for key in ("a", "b", "c"):
        watch.add(key)
        other.add(key)
    waiters.wake("a")
    watch.remove("a")
    watch.remove("never watched")
    waiters.wake("a")
    waiters.wake("b")
    assert watch.take() == ["b"]
    watch.close()
    waiters.wake("c")
    assert watch.take() == []
    assert other.take() == ["a", "b", "c"]


def test_who_is_told_may_want_to_be_told_no_more() -> None:
    waiters = Waiters()
    told: list[object] = []

    class Once:
        def note(self, key: Hashable) -> None:
            told.append(self)
            waiters.dismiss(key, self)

    both = [Once(), Once()]
    for one in both:
        waiters.enlist("k", one)
    for _ in range(2):
        waiters.wake("k")
        assert told == both


async def test_only_those_are_woken_whose_condition_holds() -> None:
    waiters = Waiters()
    reached = 0
    looked: list[int] = []

    def condition(wanted: int) -> Callable[[], bool]:
        def is_reached() -> bool:
            looked.append(wanted)
            return reached >= wanted

        return is_reached

    waiting = [
        asyncio.create_task(
            waiters.until_satisfied(condition(wanted), keys=["k", "k"], timeout_s=60, operation="o")
        )
        for wanted in (1, 2)
    ]
    await asyncio.sleep(0)
    assert waiters.counts["o"] == 2
    reached = 1
    waiters.wake("k")
    assert await waiting[0]
    assert not waiting[1].done()
    reached = 2
    waiters.wake("other")
    await asyncio.sleep(0)
    assert not waiting[1].done()
    waiters.wake("k")
    waiters.wake("k")
    assert await waiting[1]
    assert waiters.counts["o"] == 0
    assert looked.count(1) == 3  # at first, when told, and in the end


async def test_a_condition_that_is_not_told_of_in_time_does_not_hold() -> None:
    waiters = Waiters()
    assert not await waiters.until_satisfied(lambda: False, keys=["k"], timeout_s=0.001)
    assert not await waiters.until_satisfied(lambda: False, keys=["k"], timeout_s=0)
    assert await waiters.until_satisfied(lambda: True, keys=["k"], timeout_s=0)
    assert len(waiters) == 0


async def test_a_condition_that_fails_fails_where_it_is_waited_for() -> None:
    waiters = Waiters()
    is_broken = False

    def fragile() -> bool:
        if is_broken:
            raise ValueError("broken")
        return False

    waiting = asyncio.create_task(waiters.until_satisfied(fragile, keys=["k"], timeout_s=60))
    await asyncio.sleep(0)
    is_broken = True
    waiters.wake("k")
    with pytest.raises(ValueError, match="broken"):
        await waiting
    assert len(waiters) == 0


async def test_what_is_committed_is_noted_by_a_watch_without_waking_it() -> None:
    waiters = Waiters()
    watch = waiters.watch()
    watch.add("a")
    told: list[str] = []
    watch.notify = lambda: told.append("woken")
    waiters.wake_committed("a")
    assert told == []
    assert watch.take() == ["a"]
    waiters.wake("a")
    assert told == ["woken"]
    watch.close()
    waiters.wake("a")
    assert told == ["woken"]


class _Enlisted:
    def __init__(self) -> None:
        self.told = 0

    def note(self, key: object) -> None:
        self.told += 1


async def test_what_is_not_committed_is_for_watches_alone() -> None:
    waiters, enlisted = Waiters(), _Enlisted()
    watch = waiters.watch()
    watch.add("a")
    waiters.enlist("a", enlisted)
    waiters.wake_uncommitted("a")
    assert (watch.take(), enlisted.told) == (["a"], 0)
    waiters.wake_committed("a")
    assert (watch.take(), enlisted.told) == (["a"], 1)
    waiters.wake("a")
    assert (watch.take(), enlisted.told) == (["a"], 2)
