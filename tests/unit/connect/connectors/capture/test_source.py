"""What connectors for databases share: first the tables, then the stream, and never back."""

from collections.abc import Mapping

import pytest

from moldau.connect.connector import Offset, SourceBatch
from moldau.connect.connectors.capture.source import CaptureSource, FirstRead
from moldau.connect.errors import ConnectError

CONFIG = {"topic.prefix": "p", "poll.interval.ms": "1"}


class Rows:
    """Two batches of a table."""

    def __init__(self) -> None:
        self.given, self.is_complete, self.is_closed = 0, False, False

    def batch(self, limit: int) -> SourceBatch:
        self.given += 1
        self.is_complete = self.given == 2
        return SourceBatch([], {"row": self.given})

    def close(self) -> None:
        self.is_closed = True


class Changes:
    """A stream that notes what was stored."""

    measurements: Mapping[str, float] = {}

    def __init__(self, start: Offset | None) -> None:
        self.start, self.notes, self.is_closed = start, list[Offset](), False

    def batch(self, limit: int) -> SourceBatch | None:
        return SourceBatch([], {"change": 1})

    def stored(self, offset: Offset) -> None:
        self.notes.append(offset)

    def close(self) -> None:
        self.is_closed = True


class Database(CaptureSource):
    """One that a test controls."""

    def __init__(self, config: Mapping[str, str], *, streams: bool = True, waits: int = 0) -> None:
        super().__init__(config)
        self.rows, self.streams, self.waits = Rows(), streams, waits
        self.changes: Changes | None = None

    @classmethod
    def refused(cls, config: Mapping[str, str]) -> Mapping[str, str]:
        return {"bad": "not here"} if "bad" in config else {}

    @classmethod
    def server_problem(cls, config: Mapping[str, str]) -> str | None:
        return config.get("problem")

    def begin(self, start: Offset | None) -> tuple[FirstRead | None, bool]:
        return self.rows, self.streams

    def open(self, start: Offset | None) -> Changes | None:
        self.waits -= 1
        if self.waits >= 0:
            return None
        self.changes = Changes(start)
        return self.changes

    def check(self, offset: Offset) -> None:
        if "row" not in offset:
            raise ConnectError("no offset of this connector")


def offsets(source: Database, count: int) -> list[Offset | None]:
    (partition,) = source.partitions()
    found: list[Offset | None] = []
    for _ in range(count):
        batch = source.read(partition, None, 10)
        found.append(None if batch is None else batch.offset)
        if batch is not None:
            source.commit(partition, batch.offset)
    return found


def test_rows_come_first_then_changes() -> None:
    source = Database(CONFIG)
    assert offsets(source, 4) == [{"row": 1}, {"row": 2}, {"change": 1}, {"change": 1}]
    assert source.changes is not None
    assert source.changes.notes == [{"change": 1}] * 2
    source.close()
    assert source.rows.is_closed
    assert source.changes.is_closed


def test_a_stream_that_cannot_be_opened_yet_is_tried_again() -> None:
    assert offsets(Database(CONFIG, waits=1), 4)[2:] == [None, {"change": 1}]


def test_without_a_stream_it_is_finished() -> None:
    source = Database(CONFIG, streams=False)
    assert offsets(source, 3)[2:] == [None]
    assert source.changes is None


def test_problems_are_told_by_their_settings() -> None:
    assert Database.problems(CONFIG) == {}
    assert Database.problems({**CONFIG, "bad": "x", "problem": "y"}) == {"bad": "not here"}
    both = {"schema.include.list": "a", "schema.exclude.list": "b"}
    assert list(Database.problems({**CONFIG, **both})) == ["schema.include.list"]
    told = Database.problems({**CONFIG, "problem": "it is away"})["database.hostname"]
    assert told.endswith("Error while validating connector config: it is away")


def test_offsets_are_of_its_partition_and_kind() -> None:
    source = Database(CONFIG)
    source.check_offset({"server": "p"}, None)
    source.check_offset({"server": "p"}, {"row": 1})
    with pytest.raises(ConnectError, match="the only partition"):
        source.check_offset({"server": "q"}, None)
    with pytest.raises(ConnectError, match="no offset"):
        source.check_offset({"server": "p"}, {"change": 1})
