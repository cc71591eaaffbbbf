"""Sessions of one key: how records make them grow, and grow together."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from moldau.streams.functions import Folding


@dataclass(frozen=True, slots=True)
class Session:
    """From the first record to the last, both within."""

    start_ms: int
    end_ms: int
    value: object
    millis: int


@dataclass(slots=True)
class OpenSessions:
    """The open sessions of one key, which are further apart than the gap."""

    key: object
    folding: Folding
    gap_ms: int
    open: list[Session] = field(default_factory=list)

    def is_late(self, millis: int, oldest_ms: int) -> bool:
        """Whether a record would be in a session that has closed: one that ends before a moment.

        A record may be older than that and join a session that is still open, as in Kafka.
        """
        ends = [each.end_ms for each in self.open if self._is_near(each, millis)]
        return max(millis, *ends) < oldest_ms if ends else millis < oldest_ms

    def add(self, value: object, millis: int) -> None:
        """Take in a record: it begins a session, prolongs one, or joins several."""
        touched = [each for each in self.open if self._is_near(each, millis)]
        joined = self._joined(touched)
        if joined is None and self.folding.initial is None:
            changed = value
        else:
            so_far = self._initial() if joined is None else joined.value
            changed = self.folding.add(self.key, value, so_far)
        times = [millis, *(each.start_ms for each in touched), *(each.end_ms for each in touched)]
        newest = max(millis, *(each.millis for each in touched)) if touched else millis
        self.open = [each for each in self.open if each not in touched]
        self.open.append(Session(min(times), max(times), changed, newest))

    def close(self, until_ms: int) -> list[Session]:
        """Take out the sessions whose last record is not after a moment."""
        closed = [each for each in self.open if each.end_ms <= until_ms]
        self.open = [each for each in self.open if each.end_ms > until_ms]
        return sorted(closed, key=lambda each: each.start_ms)

    def _is_near(self, session: Session, millis: int) -> bool:
        return session.start_ms - self.gap_ms <= millis <= session.end_ms + self.gap_ms

    def _joined(self, sessions: Iterable[Session]) -> Session | None:
        joined: Session | None = None
        for each in sorted(sessions, key=lambda session: session.start_ms):
            if joined is None:
                joined = each
                continue
            assert self.folding.merge is not None
            value = self.folding.merge(self.key, joined.value, each.value)
            joined = Session(joined.start_ms, each.end_ms, value, max(joined.millis, each.millis))
        return joined

    def _initial(self) -> object:
        assert self.folding.initial is not None
        return self.folding.initial()
