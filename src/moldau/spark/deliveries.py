"""What a task has sent and does not yet know to be stored."""

from collections import deque

from moldau.client.producer.sent_table import SentTable


class Deliveries:
    """Tables on their way, oldest first; the memory of those that have arrived is given back."""

    def __init__(self) -> None:
        self._on_the_way: deque[SentTable] = deque()

    def add(self, sent: SentTable) -> None:
        """Have one more; raises what became of an older one if it is lost."""
        self._on_the_way.append(sent)
        while self._on_the_way and self._on_the_way[0].done():
            self._on_the_way.popleft().result()

    def finish(self) -> None:
        """Return once everything is stored, or raise why something is not."""
        while self._on_the_way:
            self._on_the_way.popleft().result()
