"""What becomes of a table that was sent."""

from collections.abc import Generator, Iterator

from moldau.client.producer.batches import Batch
from moldau.errors import KafkaError


class SentTable:
    """The receipt of a whole table; it need not be awaited.

    In asyncio code `await` it, in blocking code take its `result()`: both end when all rows are
    stored, and raise why some are not.
    """

    def __init__(self) -> None:
        self.row_count = 0
        self._batches: list[Batch] = []

    def add(self, batch: Batch) -> None:
        """Have one more batch."""
        self.row_count += batch.records.count
        self._batches.append(batch)

    def done(self) -> bool:
        """Whether all rows are stored, or have failed."""
        return self._first_unsettled() is None

    def result(self, timeout_s: float | None = None) -> int:
        """Block until all rows are stored, and return how many there are."""
        while (batch := self._first_unsettled()) is not None:
            batch.receipt(0, 0).result(timeout_s)
        self._raise_failure()
        return self.row_count

    def places(self) -> list[tuple[int, int]]:
        """Once all rows are stored: how many are in each batch, and the offset of its first.

        The rows are in the order of the table if they went to one partition.
        """
        assert self.done(), "places are known when the rows are stored"
        return [(each.records.count, each.base_offset) for each in self._parts()]

    def __await__(self) -> Generator[object, None, int]:
        while (batch := self._first_unsettled()) is not None:
            yield from batch.receipt(0, 0).__await__()
        self._raise_failure()
        return self.row_count

    def _first_unsettled(self) -> Batch | None:
        return next((each for each in self._parts() if not each.is_settled), None)

    def _raise_failure(self) -> None:
        for each in self._parts():
            if each.error is not None:
                raise KafkaError(each.error.code, str(each.error))

    def _parts(self) -> Iterator[Batch]:
        """The batches, or what they were split into meanwhile."""
        return (part for batch in self._batches for part in batch.leaves())
