"""The smallest machine a shard can have: it adds numbers, and can be asked to do so later."""

from collections.abc import Sequence

from moldau.coordinator.decision import Decision, PendingReply, RecordSource
from moldau.coordinator.timers import Timers
from moldau.records.pairs import Pair
from moldau.runtime.clock import Moment


class CounterMachine:
    """Every record adds its number to a sum; those of transactions when they commit."""

    def __init__(self) -> None:
        self.sum = 0
        self.sources: list[RecordSource] = []
        self.open: dict[int, int] = {}
        self.timers: Timers[int] = Timers()
        self.parked: list[PendingReply[int]] = []
        self.answered: list[PendingReply[int]] = []
        self.has_begun = False

    def encode(self, records: Sequence[int]) -> list[Pair]:
        return [(b"n", str(record).encode()) for record in records]

    def apply(self, records: Sequence[int], source: RecordSource) -> None:
        for log_offset, record in enumerate(records, source.log_offset):
            self._apply(record, source._replace(log_offset=log_offset))

    def _apply(self, record: int, source: RecordSource) -> None:
        self.sources.append(source)
        if source.producer_id == -1:
            self.sum += record
        else:
            self.open[source.producer_id] = self.open.get(source.producer_id, 0) + record

    def replay(self, key: bytes, value: bytes | None, source: RecordSource) -> None:
        assert key == b"n"
        assert value is not None
        self._apply(int(value), source)

    def end_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        pending = self.open.pop(producer_id, 0)
        self.sum += pending if is_commit else 0

    def begin(self, *, now: Moment) -> None:
        self.has_begun = True

    def park(self) -> PendingReply[int]:
        self.parked.append(PendingReply())
        return self.parked[-1]

    def unload(self) -> None:
        for each in self.parked:
            each.reply = -1
            self.answered.append(each)

    def next_deadline_ms(self) -> int | None:
        return self.timers.next_deadline_ms()

    def take_due(self, *, now: Moment) -> list[int]:
        return self.timers.take_due(now_ms=now.monotonic_ms)

    def expire(self, key: int, *, now: Moment) -> Decision[int, None]:
        return Decision(None, [key])

    def take_answered(self) -> list[PendingReply[int]]:
        answered, self.answered = self.answered, []
        return answered
