"""Which markers compaction may drop."""

from moldau.log.cleaned_transactions import CleanedTransactions, MarkerFate
from moldau.log.transaction_index import AbortedTransaction
from moldau.records.batch import CONTROL, TRANSACTIONAL, BatchHeader
from moldau.records.control import EndMarker

COMMIT = EndMarker(is_commit=True, coordinator_epoch=0)
ABORT = EndMarker(is_commit=False, coordinator_epoch=0)
MAY_GO, STAYS = MarkerFate(may_go=True), MarkerFate(may_go=False)


def header(offset: int, pid: int, attributes: int, *, count: int = 1) -> BatchHeader:
    return BatchHeader(
        base_offset=offset,
        size=100,
        leader_epoch=0,
        magic=2,
        crc=0,
        attributes=attributes,
        last_offset_delta=0,
        base_timestamp=0,
        max_timestamp=0,
        producer_id=pid,
        producer_epoch=0,
        base_sequence=0,
        record_count=count,
    )


def data(offset: int, pid: int) -> BatchHeader:
    return header(offset, pid, TRANSACTIONAL)


def end(offset: int, pid: int, *, count: int = 1) -> BatchHeader:
    return header(offset, pid, TRANSACTIONAL | CONTROL, count=count)


def test_only_batches_between_the_first_and_the_marker_are_aborted() -> None:
    aborted = AbortedTransaction(1, 5, 8, 9)
    transactions = CleanedTransactions([aborted])

    assert not transactions.is_aborted(data(3, 1))
    assert transactions.end(end(4, 1), COMMIT) == STAYS
    assert transactions.is_aborted(data(5, 1))
    assert not transactions.is_aborted(data(6, 2))
    assert not transactions.is_aborted(header(7, 1, 0))
    assert transactions.end(end(8, 1), ABORT) == MarkerFate(may_go=False, still_aborted=aborted)
    assert not transactions.is_aborted(data(9, 1))


def test_a_marker_may_go_when_no_batch_of_its_transaction_was_met() -> None:
    transactions = CleanedTransactions([AbortedTransaction(1, 5, 8, 9)])

    assert transactions.end(end(8, 1), ABORT) == MAY_GO
    assert transactions.end(end(9, 2), COMMIT) == MAY_GO
    assert transactions.end(end(10, 3), ABORT) == MAY_GO


def test_what_was_met_counts_for_one_marker_only() -> None:
    transactions = CleanedTransactions(
        [AbortedTransaction(1, 0, 1, 2), AbortedTransaction(1, 2, 3, 4)]
    )
    transactions.is_aborted(data(0, 1))

    assert transactions.end(end(1, 1), ABORT).still_aborted is not None
    assert transactions.end(end(3, 1), ABORT) == MAY_GO
    transactions.is_aborted(data(4, 2))
    assert transactions.end(end(5, 2), COMMIT) == STAYS
    assert transactions.end(end(6, 2), COMMIT) == MAY_GO


def test_an_emptied_marker_may_go_but_not_another_kind_of_control_record() -> None:
    transactions = CleanedTransactions([])

    assert transactions.end(end(1, 1, count=0), None) == MAY_GO
    assert transactions.end(end(2, 1), None) == STAYS


def test_transactions_are_met_in_the_order_of_their_first_offsets() -> None:
    late, early = AbortedTransaction(2, 6, 7, 0), AbortedTransaction(1, 0, 9, 10)
    transactions = CleanedTransactions([late, early])

    assert transactions.is_aborted(data(0, 1))
    assert transactions.is_aborted(data(6, 2))
    assert transactions.end(end(7, 2), ABORT).still_aborted == late
    assert transactions.end(end(9, 1), ABORT).still_aborted == early
