"""A loop beside those who wait for it."""

import asyncio
import os
import signal
import threading

import pytest

from moldau.client.blocking.loop_thread import LoopThread


@pytest.fixture
def thread() -> LoopThread:
    return LoopThread("test")


async def answer(number: int) -> int:
    await asyncio.sleep(0)
    return number


def test_a_coroutine_is_waited_for(thread: LoopThread) -> None:
    assert thread.call(answer(5)) == 5
    thread.close()


def test_a_function_is_called_in_the_thread_of_the_loop(thread: LoopThread) -> None:
    assert thread.call_function(threading.current_thread).name == "test"
    thread.close()


def test_errors_come_out(thread: LoopThread) -> None:
    with pytest.raises(ZeroDivisionError):
        thread.call_function(lambda: 1 // 0)
    thread.close()


def test_waiting_can_be_interrupted_and_then_the_work_is_cancelled(thread: LoopThread) -> None:
    cancelled = threading.Event()

    async def wait_for_ever() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    threading.Timer(0.05, press_ctrl_c).start()
    with pytest.raises(KeyboardInterrupt):
        thread.call(wait_for_ever())
    assert cancelled.wait(10)
    thread.close()


def test_after_closing_nothing_runs(thread: LoopThread) -> None:
    thread.close()
    thread.close()
    assert thread.is_closed
    with pytest.raises(RuntimeError, match="closed"):
        thread.call(answer(5))


def test_after_a_fork_it_says_that_it_cannot_be_used(
    thread: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: -1)
        with pytest.raises(RuntimeError, match="after a fork"):
            thread.call(answer(5))
    thread.close()


def press_ctrl_c() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def test_what_is_left_comes_to_its_end_before_the_loop_does() -> None:
    thread = LoopThread("tester")
    ended = threading.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.set()

    async def begin() -> asyncio.Task[None]:
        begun = asyncio.create_task(work())
        await asyncio.sleep(0)
        return begun

    task = thread.call(begin())
    thread.close()
    assert ended.is_set()
    assert task.cancelled()
