"""Requests of one connection whose answers come later, sent in the order of the requests."""

import asyncio
from collections import deque
from collections.abc import Callable

from moldau.net.answer import Answer, Later, Promised
from moldau.runtime import eager

Outcome = Answer | Exception


class Unanswered:
    """Keeps answers back until those before them have been given."""

    def __init__(self, deliver: Callable[[Outcome], None], drained: Callable[[], None]) -> None:
        """`deliver` takes outcomes in order; `drained` is called when some of them have gone."""
        self._deliver = deliver
        self._drained = drained
        self._loop = asyncio.get_running_loop()
        self._is_noted = False
        self._queue: deque[Outcome | Promised | asyncio.Task[Answer]] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, outcome: Outcome | Later | Promised) -> None:
        """Put an answer, or what will become one, behind those that are still to come."""
        if not isinstance(outcome, Later):
            if isinstance(outcome, Promised):
                outcome.notify = self._note
            self._queue.append(outcome)
            return
        # Begun at once: what is cancelled before its first step would never have been awaited.
        try:
            begun = eager.start(outcome.rest)
        except Exception as error:  # noqa: BLE001 - raised when its turn comes
            begun = eager.Finished(error)
        if isinstance(begun, eager.Finished):
            self._queue.append(begun.value)
            self._loop.call_soon(self._move_on)
        else:
            task = self._loop.create_task(begun.rest)
            task.add_done_callback(self._move)
            self._queue.append(task)

    def cancel(self) -> None:
        """No client waits for these answers any more."""
        for one in self._queue:
            if isinstance(one, (asyncio.Task, Promised)):
                one.cancel()
        self._queue.clear()

    def _note(self, kept: Promised) -> None:
        """A promise was kept; what the same event brings to others is then sent with it."""
        if not self._is_noted and self._queue[0] is kept:
            self._is_noted = True
            self._loop.call_soon(self._move_on)

    def _move(self, ended: asyncio.Task[Answer]) -> None:
        if not ended.cancelled():
            self._move_on()

    def _move_on(self) -> None:
        self._is_noted = False
        while self._queue:
            first = self._queue[0]
            if isinstance(first, Promised):
                outcome = first.outcome
                if outcome is None:
                    break
            elif not isinstance(first, asyncio.Task):
                outcome = first
            elif first.done():
                outcome = _outcome(first)
            else:
                break
            self._queue.popleft()
            self._deliver(outcome)
        self._drained()


def _outcome(task: asyncio.Task[Answer]) -> Outcome:
    error = task.exception()
    if error is None:
        return task.result()
    if not isinstance(error, Exception):
        raise error
    return error
