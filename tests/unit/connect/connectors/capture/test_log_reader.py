"""Batches of a log that a test writes."""

from collections.abc import Sequence

from moldau.connect.connectors.capture.changes import Change, RowChange
from moldau.connect.connectors.capture.envelope import EnvelopeWriter
from moldau.connect.connectors.capture.log_reader import BatchLimits, ChangeLogReader
from moldau.connect.connectors.capture.places import RecordNames
from moldau.connect.connectors.postgresql.places import LogPlace
from unit.connect.connectors.postgresql.tables import table

CHANGE = RowChange(table(), "c", LogPlace(1, None, 1, 0), new=["1", "a", None])
COMMIT = "commit"


class Written:
    """Collects one change for each letter."""

    def __init__(self) -> None:
        self.has_moved, self.is_within, self.size_bytes = False, False, 0
        self.changes: list[Change] = []
        self.passed = 0

    def __len__(self) -> int:
        return len(self.changes)

    def offset(self) -> dict[str, object]:
        return {"passed": self.passed}

    def cut(self) -> list[Change]:
        found, self.changes = self.changes, []
        return found


class LettersReader(ChangeLogReader[str]):
    def __init__(self, portions: Sequence[str], limits: BatchLimits) -> None:
        self.written = Written()
        super().__init__(limits, self.written, EnvelopeWriter(RecordNames("p", "d")), {"begun": 1})
        self.portions = list(portions)
        self.idles = self.beats = 0

    def receive(self, timeout_s: float) -> Sequence[str]:
        return self.portions.pop(0) if self.portions else ""

    def take(self, frame: str) -> None:
        self.written.passed += 1
        if frame == ".":
            self.written.is_within, self.written.has_moved = False, True
        else:
            self.written.is_within = True
            self.written.changes.append(CHANGE)

    def idle(self) -> None:
        self.idles += 1

    def beat(self) -> None:
        self.beats += 1


def sizes(reader: LettersReader) -> list[tuple[int, object]]:
    found = []
    while (batch := reader.batch(100)) is not None:
        found.append((len(list(batch.records)), batch.offset.get("passed")))
        reader.stored(batch.offset)
    return found


def limits(**changed: float) -> BatchLimits:
    given = {"batch_rows": 3, "rows_max": 5, "bytes_max": 10, "poll_s": 0.0, "heartbeat_s": 0.0}
    return BatchLimits(**{**given, **changed})  # type: ignore[arg-type]


def test_a_batch_ends_with_a_commit() -> None:
    assert sizes(LettersReader(["a.bcd.e."], limits())) == [(4, 6), (1, 8)]
    assert sizes(LettersReader(["ab", "cd."], limits())) == [(4, 5)]


def test_a_transaction_that_is_too_large_is_given_in_parts() -> None:
    assert sizes(LettersReader(["abcdefg."], limits())) == [(5, 5), (2, 8)]


def test_what_there_is_is_given_when_no_more_has_come() -> None:
    reader = LettersReader(["a.", ""], limits())
    assert sizes(reader) == [(1, 2)]
    assert reader.idles > 0


def test_a_batch_is_waited_for_until_it_is_stored() -> None:
    reader = LettersReader(["a."], limits())
    batch = reader.batch(10)
    assert batch is not None
    waits = [reader.waits_for_store]
    reader.stored(batch.offset)
    waits.append(reader.waits_for_store)
    assert waits == [True, False]
    assert reader.batch(10) is None


def test_heartbeats_come_between_transactions_and_keep_the_offset() -> None:
    reader = LettersReader([], limits(heartbeat_s=1e-9))
    batch = reader.batch(10)
    assert batch is not None
    (record,) = batch.records
    assert (record.topic, batch.offset, reader.beats) == (
        *("__debezium-heartbeat.p", {"begun": 1}, 1),
    )
