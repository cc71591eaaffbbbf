"""Whether a micro-batch begins now, and how far it goes."""

from dataclasses import dataclass
from typing import Self

from moldau.spark.offsets import Offsets
from moldau.spark.options import SourceOptions
from moldau.spark.planning import limited


@dataclass(slots=True)
class BatchAdmission:
    """Holds a batch back until there is enough to read, or until it has waited long enough.

    The first batch is never held back, as with Spark's own source; nor is one after a time in
    which there was nothing to read.
    """

    rows_min: int | None
    delay_max_ms: int
    admitted_ms: int | None = None

    @classmethod
    def of(cls, options: SourceOptions) -> Self:
        return cls(options.offsets_per_trigger_min, options.trigger_delay_max_ms)

    def end(self, start: Offsets, latest: Offsets, rows_max: int | None, *, now_ms: int) -> Offsets:
        """Where a batch from `start` ends; at `start` if it is held back."""
        if self._is_held_back(start, latest, now_ms):
            return start
        if _size(start, latest):
            self.admitted_ms = now_ms
        return latest if rows_max is None else limited(start, latest, rows_max)

    def _is_held_back(self, start: Offsets, latest: Offsets, now_ms: int) -> bool:
        if self.rows_min is None or self.admitted_ms is None:
            return False
        if now_ms - self.admitted_ms >= self.delay_max_ms:
            return False
        return _size(start, latest) < self.rows_min


def _size(start: Offsets, latest: Offsets) -> int:
    return sum(max(0, latest[each] - start.get(each, 0)) for each in latest)
