"""Tasks of Spark that share the work of a source, such as the first read of large tables.

The source itself stays in the worker. What the tasks store they store with offsets of their
own. So when Spark loses one of them, or all with its JVM, only what was not stored is read again.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from moldau.connect.connector import READER, Source, SourcePartition
from moldau.connect.errors import ConfigError, ConnectError, DataError
from moldau.connect.spark.source_rounds import SessionLender, SourceRounds, for_executors
from moldau.connect.spark.source_tasks import SourcePlan
from moldau.connect.worker.assembly import Assembly, TaskSurroundings

_log = logging.getLogger(__name__)

COUNT_MAX = 8
"""So many at most, unless settings say more: each has a connection to the other system."""
_ATTEMPTS = 4
"""So many rounds in a row may fail."""


class ReaderTasks:
    """Begins them for one source."""

    def __init__(
        self, sessions: SessionLender, assembly: Assembly, around: TaskSurroundings
    ) -> None:
        self._sessions = sessions
        self._assembly = assembly
        # Their offsets are nobody's matter but their own.
        self._around = replace(around, stored=lambda _partition, _offset: None)

    def count(self) -> int:
        """As many as the session runs at once, within bounds."""
        with self._sessions.session(self._assembly.name) as spark:
            return min(max(spark.sparkContext.defaultParallelism, 1), COUNT_MAX)

    def begin(
        self,
        connector: type[Source],
        config: Mapping[str, str],
        partitions: Sequence[SourcePartition],
    ) -> "ReaderRounds":
        """Nothing runs until the first step."""
        settings = for_executors(self._around.settings)
        plan = SourcePlan(self._assembly.name, connector, dict(config), settings, looks_up=True)
        shares = {int(str(each[READER])): [each] for each in partitions}
        return ReaderRounds(self._sessions, plan, shares, self._around)


class ReaderRounds:
    """Round by round, and again where one fails: a task then goes on where it has stored."""

    def __init__(
        self,
        sessions: SessionLender,
        plan: SourcePlan,
        shares: Mapping[int, Sequence[SourcePartition]],
        around: TaskSurroundings,
    ) -> None:
        self._sessions, self._plan, self._shares = sessions, plan, shares
        self._around = around
        self._rounds: SourceRounds | None = None
        self._failures = 0

    def step(self) -> bool:
        """One round; whether there was anything to read, or is to be read again."""
        try:
            if self._rounds is None:
                self._rounds = SourceRounds(self._sessions, self._plan, self._shares, self._around)
            is_under_way = self._rounds.step()
        except (ConfigError, DataError):
            raise
        except ConnectError as error:
            self._rounds = None  # the next one ends what may still be written
            self._failures += 1
            if self._failures >= _ATTEMPTS:
                raise
            _log.warning("readers of %s failed, and begin anew: %s", self._plan.name, error)
            return True
        self._failures = 0
        return is_under_way

    def close(self) -> None:
        """Each task has closed what it had opened."""
        self._rounds = None
