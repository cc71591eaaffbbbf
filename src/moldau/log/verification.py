"""Transactions that a partition leader has asked the coordinator about (KIP-890).

Before the first batch of a transaction is appended, the leader asks the coordinator
whether the partition belongs to it. The guard handed out for the request must still be
the current one when the batch is appended: a marker that arrives in between takes it
away, so the answer about one transaction cannot open the next.
"""

from dataclasses import dataclass


class Guard:
    """Stands for one verification; compared by identity."""

    __slots__ = ()


@dataclass(slots=True)
class _Verification:
    guard: Guard
    lowest_sequence: int
    epoch: int
    asked_at_ms: int


class Verifications:
    """The pending verifications of one partition, at most one per producer."""

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        self._pending: dict[int, _Verification] = {}

    def begin(self, producer_id: int, *, sequence: int, epoch: int, now_ms: int) -> Guard:
        """The guard under which the batch may be appended once the coordinator agreed."""
        pending = self._pending.get(producer_id)
        if pending is None:
            pending = _Verification(Guard(), sequence, epoch, now_ms)
            self._pending[producer_id] = pending
        elif epoch > pending.epoch:
            pending.epoch, pending.lowest_sequence = epoch, sequence
        elif epoch == pending.epoch:
            pending.lowest_sequence = min(pending.lowest_sequence, sequence)
        return pending.guard

    def holds(self, producer_id: int, guard: Guard | None) -> bool:
        """Whether `guard` is the current one of this producer."""
        pending = self._pending.get(producer_id)
        return pending is not None and pending.guard is guard

    def lowest_sequence(self, producer_id: int) -> int | None:
        """The smallest sequence asked about: with it the transaction has to begin."""
        pending = self._pending.get(producer_id)
        return pending.lowest_sequence if pending else None

    def clear(self, producer_id: int) -> None:
        """Take the guard away: the transaction is open now, or over."""
        self._pending.pop(producer_id, None)

    def expire(self, *, now_ms: int, expiration_ms: int) -> None:
        """Forget verifications that were never answered."""
        for producer_id, pending in list(self._pending.items()):
            if now_ms - pending.asked_at_ms >= expiration_ms:
                del self._pending[producer_id]
