"""UncommittedAppend until other replicas have what was appended."""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from moldau.errors import ErrorCode, KafkaError
from moldau.replication.partition import Partition, PartitionState
from moldau.runtime.waiters import Waiters

if TYPE_CHECKING:
    from moldau.broker.requests.produce import AppendOutcome

OPERATION = "Produce"


class UncommittedAppend:
    """A partition whose answer depends on the other replicas."""

    __slots__ = ("_state", "end_offset", "outcome", "partition")

    def __init__(self, partition: Partition, end_offset: int, outcome: "AppendOutcome") -> None:
        self.partition = partition
        self.end_offset = end_offset
        self.outcome = outcome
        self._state: PartitionState = partition.state

    @property
    def may_be_over(self) -> bool:
        """Whether it is worth a look: a partition's state is replaced, never changed."""
        partition = self.partition
        return partition.log.high_watermark >= self.end_offset or partition.state is not self._state


class ReplicaWait:
    """Waits until other replicas have what was appended, or the time is up.

    Without coroutine, task and future: in a cluster most requests of producers wait here.
    """

    __slots__ = ("_done", "_keys", "_pending", "_settle", "_timer", "_waiters")

    def __init__(
        self,
        waiting: Sequence[UncommittedAppend],
        waiters: Waiters,
        timeout_s: float,
        settle: Callable[[UncommittedAppend, KafkaError], None],
        done: Callable[[], None],
    ) -> None:
        """`settle` is given what fails, `done` is called at the end, after this has returned."""
        self._waiters = waiters
        self._settle = settle
        self._done = done
        # What is committed once, is so for good: only the last of them is looked at.
        self._pending = list(waiting)
        self._keys = dict.fromkeys([one.partition.topic_partition for one in self._pending])
        for key in self._keys:
            waiters.enlist(key, self)
        waiters.counts[OPERATION] += 1
        loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = loop.call_later(timeout_s, self.expire)

    def note(self, key: Hashable) -> None:  # noqa: ARG002 - as a watcher has it
        """Something happened to a partition: mostly, another append."""
        pending = self._pending
        if self._timer is None:
            return
        while pending and pending[-1].may_be_over:
            if not self._is_over(pending[-1]):
                return
            pending.pop()
        if not pending:
            self._end()

    def expire(self) -> None:
        """The time is up; the records stay in the log, only the answer is uncertain."""
        if self._timer is not None:
            for one in self._pending:
                if not self._is_over(one):
                    self._settle(one, KafkaError(ErrorCode.REQUEST_TIMED_OUT))
            self._end()

    def cancel(self) -> None:
        """Wait no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            waiters = self._waiters
            waiters.counts[OPERATION] -= 1
            for key in self._keys:
                waiters.dismiss(key, self)

    def _is_over(self, one: UncommittedAppend) -> bool:
        try:
            return one.partition.is_committed(one.end_offset)
        except KafkaError as error:
            self._settle(one, error)
            return True

    def _end(self) -> None:
        self.cancel()
        self._done()
