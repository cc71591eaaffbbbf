"""Work off the event loop: what blocks on the disk, or computes for long."""

import asyncio
import threading

import pytest

from moldau.runtime.threads import in_thread, run_all


async def test_the_result_and_the_exception_of_the_work_arrive() -> None:
    assert await in_thread(threading.get_ident) != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0)


async def test_a_cancelled_caller_is_told_when_the_work_has_ended() -> None:
    started, stop, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        stop.wait()
        ended.set()

    waiting = asyncio.create_task(in_thread(work, on_cancel=stop.set))
    await in_thread(started.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended.is_set()


async def test_a_second_cancellation_does_not_hurry_it() -> None:
    started, stop = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        stop.wait()

    waiting = asyncio.create_task(in_thread(work))
    await in_thread(started.wait)
    for _ in range(2):
        waiting.cancel()
        await asyncio.sleep(0)
    assert not waiting.done()
    stop.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting


def test_pieces_of_work_are_done_at_once() -> None:
    both = threading.Barrier(2, timeout=10)
    done: list[int] = []

    def work() -> None:
        both.wait()
        done.append(1)

    run_all([work] * 4, at_once=2)
    assert len(done) == 4


def test_the_failure_of_a_piece_of_work_is_raised() -> None:
    def fail() -> None:
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        run_all([lambda: None, fail], at_once=2)


def test_one_at_a_time_needs_no_thread() -> None:
    threads: list[int] = []
    run_all([lambda: threads.append(threading.get_ident())] * 2, at_once=1)
    assert threads == [threading.get_ident()] * 2
