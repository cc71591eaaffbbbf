"""The loop: time that jumps, callbacks that belong to lives, threads that are none."""

import asyncio

import pytest

from moldau.testing.world.life import Life, State
from moldau.testing.world.loop import Stuck, Task, WorldLoop, context_of


def new_loop() -> WorldLoop:
    return WorldLoop(lambda: 0.5)  # type: ignore[abstract]


def test_an_hour_takes_no_time_and_the_order_is_that_of_the_deadlines() -> None:
    loop, seen = new_loop(), []

    async def sleeper(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((name, asyncio.get_running_loop().time()))

    async def main() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(sleeper("long", 3600))
            tasks.create_task(sleeper("short", 1))

    loop.run(main())
    assert seen == [("short", 1.0), ("long", 3600.0)]


def test_what_can_never_end_is_told() -> None:
    async def forever() -> None:
        await asyncio.get_running_loop().create_future()

    async def spin() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(Stuck, match="nothing will ever happen"):
        new_loop().run(forever())
    with pytest.raises(Stuck, match="time stands still"):
        new_loop().run(spin())


def test_timeouts_and_cancelled_timers_are_those_of_asyncio() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        loop.call_later(1, pytest.fail).cancel()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2):
                await loop.create_future()
        return loop.time()

    assert new_loop().run(main()) == 2.0


def test_work_in_a_thread_comes_back_later_with_its_result_or_error() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        assert await loop.run_in_executor(None, lambda a, b: a + b, 1, 2) == 3
        with pytest.raises(ZeroDivisionError):
            await loop.run_in_executor(None, lambda: 1 // 0)
        return loop.time()

    assert new_loop().run(main()) > 0


def test_a_paused_life_goes_on_with_what_came_due_meanwhile() -> None:
    loop, life, seen = new_loop(), Life("machine"), []

    async def main() -> None:
        loop.call_later(1, lambda: seen.append(loop.time()), context=context_of(life))
        life.state = State.PAUSED
        await asyncio.sleep(5)
        assert seen == []
        loop.resume(life)
        await asyncio.sleep(0)

    loop.run(main())
    assert seen == [5.0]


def test_nothing_of_an_ended_life_runs_not_even_its_last_words() -> None:
    loop, life, seen = new_loop(), Life("machine"), []

    async def program() -> None:
        try:
            await asyncio.sleep(1)
        finally:
            seen.append("last words")

    async def main() -> None:
        task = loop.create_task(program(), context=context_of(life))
        assert list(life.tasks) == [task]
        await asyncio.sleep(0.5)
        life.state = State.ENDED
        await asyncio.sleep(5)
        assert seen == []

    loop.run(main())


def test_failures_that_nobody_handles_are_kept_unless_their_life_is_over() -> None:
    loop, life = new_loop(), Life("machine")

    def end_and_fail() -> None:
        life.state = State.ENDED
        raise ValueError

    async def main() -> None:
        loop.call_soon(lambda: 1 // 0)
        loop.call_soon(end_and_fail, context=context_of(life))
        await asyncio.sleep(1)

    loop.run(main())
    assert len(loop.problems) == 1
    assert "ZeroDivisionError" in loop.problems[0]


def test_the_trace_tells_two_histories_apart() -> None:
    async def main(data: bytes, delay_s: float) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, WorldLoop)
        await asyncio.sleep(delay_s)
        loop.note(data)

    def trace(data: bytes, delay_s: float) -> int:
        loop = new_loop()
        loop.run(main(data, delay_s))
        return loop.trace

    assert trace(b"a", 1) == trace(b"a", 1)
    assert len({trace(b"a", 1), trace(b"b", 1), trace(b"a", 2)}) == 3


def test_tasks_have_the_same_place_in_a_set_in_every_run() -> None:
    async def nothing() -> None:
        pass

    async def main() -> list[int]:
        tasks = [asyncio.get_running_loop().create_task(nothing()) for _ in range(3)]
        assert all(isinstance(task, Task) for task in tasks)
        await asyncio.gather(*tasks)
        return [hash(task) for task in tasks]

    first, second, third = new_loop().run(main())
    assert (second - first, third - second) == (1, 1)


def test_a_closed_loop_forgets_what_would_have_happened() -> None:
    loop = new_loop()
    loop.call_soon(pytest.fail)
    loop.close()
    assert loop.is_closed()
    loop.call_exception_handler({"message": "late"})
    assert loop.problems == []
