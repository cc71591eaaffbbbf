"""Which transactions compaction has come across, and which of their markers it may drop.

Records of an aborted transaction go at once. A marker may go once compaction met none of
its transaction's batches on the way, so that no reader can find records without the
marker that decides them. An aborted transaction stays in the transaction index for as
long as batches of it may be found.
"""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from moldau.log.transaction_index import AbortedTransaction
from moldau.records.batch import BatchHeader
from moldau.records.control import EndMarker


class MarkerFate(NamedTuple):
    """What is to become of a marker."""

    may_go: bool
    still_aborted: AbortedTransaction | None = None  # belongs into the cleaned index


_STAYS = MarkerFate(may_go=False)
_MAY_GO = MarkerFate(may_go=True)


class CleanedTransactions:
    """The transactions at one place of a log that is read from its start to its end."""

    __slots__ = ("_aborted", "_open_aborted", "_open_committed", "_seen")

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        """`aborted` are all that reach into what will be read."""
        self._aborted = deque(sorted(aborted, key=lambda transaction: transaction.first_offset))
        self._open_aborted: dict[int, AbortedTransaction] = {}
        self._open_committed: set[int] = set()
        self._seen: set[int] = set()

    def is_aborted(self, header: BatchHeader) -> bool:
        """Whether a data batch belongs to a transaction that was aborted later on."""
        self._advance(header.last_offset)
        if not header.is_transactional:
            return False
        if header.producer_id in self._open_aborted:
            self._seen.add(header.producer_id)
            return True
        self._open_committed.add(header.producer_id)
        return False

    def end(self, header: BatchHeader, marker: EndMarker | None) -> MarkerFate:
        """Take in a control batch; one without a marker was emptied before."""
        self._advance(header.last_offset)
        producer_id = header.producer_id
        if marker is None:
            return _MAY_GO if header.record_count == 0 else _STAYS
        if marker.is_commit:
            if producer_id not in self._open_committed:
                return _MAY_GO
            self._open_committed.remove(producer_id)
            return _STAYS
        transaction = self._open_aborted.pop(producer_id, None)
        if transaction is None or producer_id not in self._seen:
            return _MAY_GO
        self._seen.remove(producer_id)
        return MarkerFate(may_go=False, still_aborted=transaction)

    def _advance(self, offset: int) -> None:
        while self._aborted and self._aborted[0].first_offset <= offset:
            transaction = self._aborted.popleft()
            self._open_aborted.setdefault(transaction.producer_id, transaction)
