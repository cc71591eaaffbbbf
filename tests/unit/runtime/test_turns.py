"""Long work gives way, and many such works share the loop."""

import asyncio
from collections.abc import Generator

import pytest

from moldau.runtime import turns
from moldau.runtime.turns import Turns, in_parts


@pytest.fixture(autouse=True)
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every turn is over as soon as it is looked at."""
    monkeypatch.setattr(turns, "TURN_S", 0)


class Rounds:
    """Counts the rounds of the loop."""

    def __init__(self) -> None:
        self.count = 0
        self._go()

    def _go(self) -> None:
        self.count += 1
        asyncio.get_running_loop().call_soon(self._go)


async def test_each_gives_way_after_so_many_items() -> None:
    rounds = Rounds()
    seen = [item async for item in Turns().each(range(100), at_once=10)]
    assert seen == list(range(100))
    assert rounds.count > 10


async def test_short_lists_are_not_held_up() -> None:
    rounds = Rounds()
    assert [item async for item in Turns().each("abc")] == ["a", "b", "c"]
    assert rounds.count == 1


async def test_a_turn_that_is_not_over_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURN_S", 60)
    rounds = Rounds()
    assert len([item async for item in Turns().each(range(1000))]) == 1000
    assert rounds.count == 1


async def test_a_generator_is_run_to_its_end() -> None:
    def work() -> Generator[int, None, str]:
        yield 1
        yield 2
        return "done"

    rounds = Rounds()
    assert await Turns().finish(work()) == "done"
    assert rounds.count > 2


async def test_one_of_many_works_has_a_turn_in_each_round() -> None:
    shared = Turns()
    log: list[tuple[int, str]] = []
    rounds = Rounds()

    def note(name: str) -> None:
        log.append((rounds.count, name))

    async def work(name: str) -> None:
        async for _ in shared.each(range(3), at_once=1):
            note(name)

    await asyncio.gather(work("a"), work("b"), work("c"))
    later = [count for count, _ in log[3:]]
    assert len(later) == len(set(later)), "two had a turn in the same round"
    assert [name for _, name in log[-3:]] == ["a", "b", "c"]


async def test_a_work_that_is_given_up_does_not_keep_the_others_waiting() -> None:
    shared = Turns()
    given_up = asyncio.create_task(shared.next())
    other = asyncio.create_task(shared.next())
    await asyncio.sleep(0)
    assert shared.is_busy
    given_up.cancel()
    await other
    assert not shared.is_busy


@pytest.mark.parametrize("count", [0, 3, 5_000])
async def test_texts_are_sorted_in_turns(count: int) -> None:
    rounds = Rounds()
    texts = [str(hash(number * 7919) % 10_007) for number in range(count)]
    assert list(await Turns().in_order(texts)) == sorted(texts)
    assert (rounds.count > 1) == (count > 2_000)


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (3, [3]), (4, [3, 1]), (6, [3, 3])])
def test_a_mapping_comes_in_parts(count: int, sizes: list[int]) -> None:
    items = {number: str(number) for number in range(count)}
    parts = list(in_parts(items, 3))
    assert [len(part) for part in parts] == sizes
    assert {key: value for part in parts for key, value in part.items()} == items
