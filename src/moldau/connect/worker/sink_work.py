"""What a sink's task does: reads topics, has the records written, then commits how far it is."""

import re
from collections.abc import Callable, Sequence

from moldau.client.blocking.consumer import Consumer
from moldau.connect.worker.sink_writing import SinkWriter

_POLL_S = 0.5


class SinkWork:
    """Steps of a task: what one poll brings, each."""

    def __init__(
        self,
        writer: SinkWriter,
        consumer: Consumer[bytes, bytes],
        topics: Sequence[str] | re.Pattern[str],
        used: Callable[[str], None],
        report: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._writer = writer
        self._consumer = consumer
        self._note_used = used
        self._report = report
        self._used: set[str] = set()
        self._owes_commit = False
        consumer.subscribe(topics)

    def step(self) -> bool:
        """Write a portion; True, since the poll has waited already."""
        records = self._consumer.poll(_POLL_S)
        if not records:
            self._commit()
            return True
        self._owes_commit = True
        for topic in {each.topic for each in records} - self._used:
            self._used.add(topic)
            self._note_used(topic)
        self._writer.write(records)
        self._report(len(records))
        self._commit()
        return True

    def _commit(self) -> None:
        """Once the sink has stored everything; it may hold records back for a while."""
        if self._owes_commit and self._writer.settle():
            self._consumer.commit()
            self._owes_commit = False

    def idle_s(self) -> float:
        """The poll waits."""
        return 0.0

    def rest(self) -> None:
        """The consumer stays in its group."""

    def close(self) -> None:
        """Both sides."""
        try:
            self._writer.close()
        finally:
            self._consumer.close()
