"""How large logs are, and how fast they grow, which any broker says of its directories."""

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin
    from moldau.client.admin.log_dirs import LogDir

_POINTS_MAX = 360  # one hour

Answered = frozenset[tuple[int, str]]


class LogSizes:
    """Bytes of topics, and the bytes per second that producers add to them.

    The largest replica of a partition stands for it, as records are stored: after compression,
    and once. What retention and compaction remove hides what came meanwhile, so a partition that
    has shrunk counts as one that has not grown.
    """

    def __init__(self) -> None:
        self.topics: dict[str, int] = {}
        """Bytes of each topic, on all brokers together."""
        self.history: deque[tuple[int, float]] = deque(maxlen=_POINTS_MAX)
        """Times in ms, and bytes per second since the time before."""
        self._before: tuple[int, Answered, dict[str, dict[int, int]]] | None = None

    async def update(self, admin: "Admin", at_ms: int) -> None:
        """Ask all brokers; what some do not say is missing."""
        self.add((await admin.describe_log_dirs()).succeeded, at_ms)

    def add(self, brokers: Mapping[int, Mapping[str, "LogDir"]], at_ms: int) -> None:
        """Add what brokers have said of their directories."""
        answered: set[tuple[int, str]] = set()
        sizes: dict[str, dict[int, int]] = {}
        self.topics = {}
        for broker, directories in brokers.items():
            for directory in directories.values():
                if directory.error is None:
                    answered.add((broker, directory.path))
                for (topic, partition), replica in directory.replicas.items():
                    if not replica.is_future:
                        size = replica.size_bytes
                        self.topics[topic] = self.topics.get(topic, 0) + size
                        of_topic = sizes.setdefault(topic, {})
                        of_topic[partition] = max(of_topic.get(partition, 0), size)
        self._add_rate(at_ms, frozenset(answered), sizes)

    def _add_rate(self, at_ms: int, answered: Answered, sizes: dict[str, dict[int, int]]) -> None:
        """The rate since the time before; none if others have answered, which is no growth."""
        if self._before is not None and answered and answered == self._before[1]:
            before_ms, _, before = self._before
            grown = 0
            for topic, partitions in sizes.items():
                known = before.get(topic, {})
                grown += sum(max(size - known.get(each, 0), 0) for each, size in partitions.items())
            self.history.append((at_ms, round(grown * 1000 / max(at_ms - before_ms, 1), 1)))
        self._before = (at_ms, answered, sizes)
