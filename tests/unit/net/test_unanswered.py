"""Answers that come later, in the order of their requests."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from moldau.net.answer import Answer, CloseConnection, Later, Limits, Parked, Part, Promised
from moldau.net.connection import Connection
from moldau.net.unanswered import Outcome, Unanswered
from unit.net.test_connection import connect, form, framed, listening, read_frame
from unit.waiting import until

__all__ = ["form"]  # the fixture lets connections be tried in all their forms


class Promise(Promised):
    """An answer that a test gives."""

    is_cancelled = False

    def keep(self, outcome: list[Part] | Exception) -> None:
        self.outcome = outcome
        self.notify(self)

    def cancel(self) -> None:
        self.is_cancelled = True


class Requests:
    """Requests that are answered when a test says so."""

    def __init__(self) -> None:
        self.delivered: list[Outcome] = []
        self.drained = 0
        self.queue = Unanswered(self.delivered.append, self._note)

    def _note(self) -> None:
        self.drained += 1

    def later(self) -> "asyncio.Future[Answer]":
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        async def rest() -> Answer:
            return await future

        self.queue.add(Later(rest()))
        return future

    def promise(self) -> Promise:
        promise = Promise()
        self.queue.add(promise)
        return promise


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_an_answer_waits_for_those_before_it() -> None:
    requests = Requests()
    first, second = requests.later(), requests.later()
    requests.queue.add([b"third"])
    second.set_result([b"second"])
    await settle()
    assert requests.delivered == []
    assert len(requests.queue) == 3
    first.set_result([b"first"])
    await settle()
    assert requests.delivered == [[b"first"], [b"second"], [b"third"]]
    assert len(requests.queue) == 0
    assert requests.drained == 2


async def test_promised_answers_wait_for_those_before_them() -> None:
    requests = Requests()
    first, second, third = requests.promise(), requests.later(), requests.promise()
    requests.queue.add([b"fourth"])
    third.keep([b"third"])
    second.set_result([b"second"])
    await settle()
    assert requests.delivered == []
    first.keep([b"first"])
    await settle()
    assert requests.delivered == [[b"first"], [b"second"], [b"third"], [b"fourth"]]
    assert len(requests.queue) == 0


async def test_promises_that_are_kept_together_are_delivered_together_and_not_at_once() -> None:
    requests = Requests()
    promises = [requests.promise() for _ in range(4)]
    promises[1].keep([b"1"])
    await settle()
    assert requests.drained == 0
    promises[0].keep([b"0"])
    error = ValueError("no")
    promises[2].keep(error)
    assert requests.delivered == [], "whoever keeps a promise is in the middle of something"
    await settle()
    assert requests.delivered == [[b"0"], [b"1"], error]
    assert (requests.drained, len(requests.queue)) == (1, 1)
    promises[3].keep([b"3"])
    await settle()
    assert requests.delivered[3:] == [[b"3"]]
    assert requests.drained == 2


async def test_promises_that_nobody_waits_for_are_cancelled() -> None:
    requests = Requests()
    kept, waiting = requests.promise(), requests.promise()
    kept.keep([b"never sent"])
    requests.queue.cancel()
    await settle()
    assert waiting.is_cancelled
    assert requests.delivered == []


async def test_an_error_is_told_in_its_turn() -> None:
    requests = Requests()
    first, second = requests.later(), requests.later()
    error = ValueError("no")
    first.set_exception(error)
    second.set_result(None)
    await settle()
    assert requests.delivered == [error, None]


async def test_what_is_cancelled_is_not_told() -> None:
    requests = Requests()
    future = requests.later()
    requests.queue.add([b"second"])
    await settle()
    requests.queue.cancel()
    await settle()
    assert future.cancelled()
    assert requests.delivered == []
    assert len(requests.queue) == 0


class Postponing:
    """Does what requests want at once, and answers them when told to.

    A request is its kind, which is four letters, and a number: `late1`, `soon2`.
    """

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self.gates: dict[bytes, asyncio.Event] = {}

    def __call__(self, _: Connection, frame: memoryview) -> Any:
        body = bytes(frame)
        self.seen.append(body)
        if body == b"latewrong":
            raise CloseConnection("wrong")
        if body.startswith(b"late"):
            self.gates[body] = asyncio.Event()
            return self._begun(body) if body.endswith(b"slow") else Later(self._answer(body))
        return [framed(body)]

    async def _begun(self, body: bytes) -> Later:
        await asyncio.sleep(0)
        return Later(self._answer(body))

    async def _answer(self, body: bytes) -> list[Part]:
        await self.gates[body].wait()
        return [framed(body)]

    def release(self, *bodies: bytes) -> None:
        for body in bodies:
            self.gates[body].set()


async def test_requests_begin_although_answers_before_them_wait_and_keep_their_order() -> None:
    respond = Postponing()
    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        bodies = [b"late1", b"late2slow", b"late3"]
        writer.write(b"".join(framed(body) for body in bodies))
        await until(lambda: respond.seen == bodies)
        respond.release(b"late3", b"late2slow")
        respond.release(b"late1")
        assert [await read_frame(reader) for _ in bodies] == bodies
        writer.close()


async def test_a_request_of_another_kind_waits_for_the_answers_before_it() -> None:
    respond = Postponing()
    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"late1") + framed(b"soon2"))
        await until(lambda: b"late1" in respond.gates)
        await asyncio.sleep(0)
        assert respond.seen == [b"late1"]
        respond.release(b"late1")
        assert [await read_frame(reader) for _ in range(2)] == [b"late1", b"soon2"]
        writer.close()


async def test_only_so_many_requests_wait_for_their_answers() -> None:
    respond = Postponing()
    bodies = [f"late{number}".encode() * 8 for number in range(9)]
    limits = Limits(unanswered_requests=2, receive_buffer_bytes=64)
    async with listening(respond, limits) as listener:
        reader, writer = await connect(listener)
        writer.write(b"".join(framed(body) for body in bodies))
        for number, body in enumerate(bodies):
            await until(lambda: body in respond.gates)  # noqa: B023
            assert len(respond.seen) <= number + 2
            respond.release(body)
            assert await read_frame(reader) == body
        writer.close()


async def test_who_does_something_wrong_still_hears_the_answers_before() -> None:
    respond = Postponing()
    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"late1") + framed(b"latewrong") + framed(b"late3"))
        await until(lambda: b"latewrong" in respond.seen)
        respond.release(b"late1")
        assert await reader.read() == framed(b"late1")
        assert respond.seen == [b"late1", b"latewrong"]
        writer.close()


async def test_nobody_waits_for_answers_on_a_connection_that_is_gone() -> None:
    respond = Postponing()
    cancelled = asyncio.Event()

    async def answer(body: bytes) -> list[Part]:
        try:
            await respond.gates[body].wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return []

    respond._answer = answer  # type: ignore[method-assign]
    async with listening(respond) as listener:
        _, writer = await connect(listener)
        writer.write(framed(b"late1"))
        await until(lambda: b"late1" in respond.gates)
        writer.transport.abort()
        async with asyncio.timeout(10):
            await cancelled.wait()


async def test_an_answer_that_has_come_already_is_given_in_its_turn() -> None:
    requests = Requests()
    first = requests.later()

    async def known() -> Answer:
        return [b"second"]

    async def failed() -> Answer:
        raise CloseConnection

    requests.queue.add(Later(known()))
    requests.queue.add(Later(failed()))
    await settle()
    assert requests.delivered == []
    first.set_result([b"first"])
    await settle()
    assert requests.delivered[:2] == [[b"first"], [b"second"]]
    assert isinstance(requests.delivered[2], CloseConnection)


async def test_what_is_cancelled_at_once_has_begun() -> None:
    requests = Requests()
    begun = []

    async def inner() -> Answer:
        begun.append(True)
        await asyncio.get_running_loop().create_future()
        return None

    async def outer(work: Coroutine[Any, Any, Answer]) -> Answer:
        return await work

    requests.queue.add(Later(outer(inner())))
    requests.queue.cancel()
    await settle()
    assert begun == [True]
    assert len(requests.queue) == 0


class Postponed(Parked):
    """A request that waits, and whose answer comes later still."""

    def __init__(self, later: Later) -> None:
        self.later = later
        self.otherwise = lambda: later

    def answer(self) -> None:
        return None

    def cancel(self) -> None:
        pass


@pytest.mark.parametrize("size", [0, 4, 60])
async def test_a_request_that_was_parked_lets_others_of_its_own_kind_begin(size: int) -> None:
    """Its kind is read from its own frame, which may end the buffer and the memory."""
    parked: list[Postponed] = []
    seen: list[bytes] = []
    gate = asyncio.Event()

    async def answer(body: bytes) -> list[Part]:
        await gate.wait()
        return [framed(body)]

    def respond(_: Connection, frame: memoryview) -> Any:
        seen.append(bytes(frame))
        if len(seen) > 1:
            return Later(answer(b"second"))
        parked.append(Postponed(Later(answer(b"first"))))
        return parked[0]

    first = (b"kind" * 15)[:size]
    async with listening(respond, Limits(receive_buffer_bytes=64)) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(first))
        async with asyncio.timeout(10):
            while not parked:
                await asyncio.sleep(0)
            parked[0].unpark()
            writer.write(framed(b"kind2"))
            if size:
                while len(seen) < 2:
                    await asyncio.sleep(0)
            gate.set()
            assert [await read_frame(reader) for _ in range(2)] == [b"first", b"second"]
        writer.close()
