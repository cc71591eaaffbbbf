"""Rows that Spark dropped since they came after their windows had closed: how many in all."""

from collections import Counter

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)


class LateRows(StreamingQueryListener):
    """Adds up what queries report of each micro-batch, by their names."""

    def __init__(self) -> None:
        super().__init__()
        self._dropped: Counter[str] = Counter()

    def of(self, query: str) -> int:
        """How many rows a query has dropped since it first started here."""
        return self._dropped[query]

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - Spark's name
        name = event.progress.name
        if name is not None:
            operators = event.progress.stateOperators
            self._dropped[name] += sum(each.numRowsDroppedByWatermark for each in operators)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Nothing was dropped yet."""

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 - Spark's name
        """Nothing came."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - Spark's name
        """What was dropped stays so."""
