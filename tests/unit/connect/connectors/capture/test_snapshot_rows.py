"""Rows that are read at first say which of them they are."""

from moldau.connect.connectors.capture.envelope import EnvelopeWriter
from moldau.connect.connectors.capture.places import RecordNames
from moldau.connect.connectors.capture.snapshot_rows import SnapshotRecords, rows_of
from moldau.connect.connectors.postgresql.places import LogPlace
from unit.connect.connectors.postgresql.tables import table

WRITER = EnvelopeWriter(RecordNames("p", "db"))
PLACE = LogPlace(5, None, None, 0)


def markers(*counts: int) -> list[object]:
    """Of tables with so many rows, two taken at a time."""
    rows = (
        row
        for number, count in enumerate(counts)
        for row in rows_of(table(f"t{number}"), ([str(at), "n", None] for at in range(count)))
    )
    found = SnapshotRecords(rows, WRITER, PLACE)
    values: list[object] = []
    while not found.is_complete:
        taken = list(found.take(2))
        assert len(taken) in (1, 2)
        values += [each.value.value for each in taken]
    sources = [each["source"] for each in values if isinstance(each, dict)]
    assert [each["table"] for each in sources] == [
        f"t{number}" for number, count in enumerate(counts) for _ in range(count)
    ]
    return [each["snapshot"] for each in sources]


def test_the_first_and_the_last_are_told() -> None:
    assert markers(3, 0, 2, 1) == [
        *("first", "true", "last_in_data_collection"),
        *("first_in_data_collection", "last_in_data_collection", "last"),
    ]
    assert markers(1) == ["last"]
    assert markers() == []
