"""In how many partitions a query keeps its state.

Spark fixes that when a query first starts, and each partition is a task and a store that every
micro-batch pays for. More than the input has gain what Kafka Streams does not have either; more
than there are cores gain nothing until there are more cores, for which `reset` is there.
"""

import logging
from collections.abc import Mapping
from typing import NamedTuple

from moldau.streams.run.manifest import KnownQuery

_log = logging.getLogger(__name__)

SETTING = "spark.sql.shuffle.partitions"


class StatePartitions(NamedTuple):
    """How queries that begin are divided: as is said, or as fits topics and cores."""

    said: int | None
    cores: int

    def of(self, name: str, known: Mapping[str, KnownQuery], input_partitions: int) -> int:
        """For a query: as it is known, or by the most partitions that a topic of it has."""
        if name not in known:
            return self.said or fitting(input_partitions, self.cores)
        fixed = known[name].state_partitions
        if self.said is not None and self.said != fixed:
            _log.warning(
                "%s keeps its state in %d partitions, not in %d: `moldau streams reset` changes it",
                name,
                fixed,
                self.said,
            )
        return fixed


def fitting(input_partitions: int, cores: int) -> int:
    """As many as the input has, but no more than can be worked on at once."""
    return max(1, min(input_partitions, cores))
