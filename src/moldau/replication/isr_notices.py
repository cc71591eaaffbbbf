"""When the controller is notified of changed in-sync sets: after a quiet time, but not too late.

The sets are in the tree already; the notice only has the controller spread them. A broker
that comes back joins thousands of sets within seconds, and one notice does for all.
"""

from moldau.model import TopicPartition

QUIET_MS = 5_000
LATEST_MS = 60_000
CHECK_INTERVAL_MS = 2_500


class IsrNotices:
    """The partitions whose in-sync sets have changed since the last notice."""

    def __init__(self, *, now_ms: int) -> None:
        self._changed: dict[TopicPartition, None] = {}
        self._changed_ms = self._sent_ms = now_ms

    def note(self, partition: TopicPartition, *, now_ms: int) -> None:
        """A set has changed."""
        self._changed[partition] = None
        self._changed_ms = now_ms

    def due(self, *, now_ms: int) -> list[TopicPartition]:
        """The partitions to notify the controller of now."""
        is_quiet = now_ms - self._changed_ms > QUIET_MS
        return list(self._changed) if is_quiet or now_ms - self._sent_ms > LATEST_MS else []

    def sent(self, partitions: list[TopicPartition], *, now_ms: int) -> None:
        """The controller was notified of these."""
        for partition in partitions:
            self._changed.pop(partition, None)
        self._sent_ms = now_ms
