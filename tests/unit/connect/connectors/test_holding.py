"""Records are held back until there are enough, or it is time."""

from collections.abc import Mapping, Sequence

from moldau.connect.connectors.holding import Held, HeldPart, HoldingSink
from moldau.connect.data.arrow import table_of_records
from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.data.schema import INT64, STRING, struct
from unit.connect.connectors.records import records


class Kept(HoldingSink):
    """Notes what it stores."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self.stored: list[tuple[str, int, int, int]] = []
        self.clock_s = 0.0
        self.held = Held(lambda: self.clock_s)

    def store(self, parts: Sequence[HeldPart]) -> None:
        self.stored += [
            (each.topic, each.partition, each.first_offset, each.next_offset) for each in parts
        ]


def test_it_stores_when_there_are_enough_rows_or_it_is_time() -> None:
    sink = Kept({"rows.per.file": "5", "seconds.per.file": "10"})
    sink.write(records(0, 2), 0)
    assert not sink.settle()
    sink.write(records(7, 2, partition=1), 1)
    sink.write(records(2, 1), 2)
    assert sink.settle(), "five rows are stored at once"
    assert sink.stored == [("t", 0, 0, 3), ("t", 1, 7, 9)]
    sink.write(records(3, 1), 3)
    sink.clock_s = 9.9
    assert not sink.settle()
    sink.clock_s = 10.0
    assert sink.settle()
    assert sink.stored[2:] == [("t", 0, 3, 4)]


def test_records_of_another_schema_begin_anew_and_the_end_stores_the_rest() -> None:
    sink = Kept({})
    sink.write(records(0, 1), 0)
    sink.write(records(1, 1, schema=struct([("id", INT64), ("name", STRING), ("x", INT64)])), 1)
    assert sink.stored == [("t", 0, 0, 1)]
    assert not sink.settle()
    assert sink.settle(ends=True)
    assert sink.stored[1:] == [("t", 0, 1, 2)]


def test_tombstones_alone_are_nothing_to_hold() -> None:
    sink = Kept({})
    sink.write(records(0, 1), 0)
    gone = ConnectRecord("t", Datum(1, INT64), NULL, (), 0, 0, 1)
    sink.write(table_of_records([gone]), 1)
    sink.write(records(2, 1), 2)
    assert sink.stored == [], "their type is no other one"
    assert sink.settle(ends=True)
    assert sink.stored == [("t", 0, 0, 3)]
    sink.write(table_of_records([gone]), 3)
    assert sink.settle()


def test_what_fails_to_be_stored_is_still_held() -> None:
    class Full(Kept):
        def store(self, parts: Sequence[HeldPart]) -> None:
            raise OSError("no space left")

    sink = Full({"rows.per.file": "1"})
    for _ in range(2):
        try:
            sink.write(records(0, 1), 0)
        except OSError:
            assert sink.held.rows


def test_a_part_knows_what_is_left_of_it() -> None:
    part = HeldPart("t", 0, records(3, 3))
    rest = part.since(5)
    assert rest is not None
    assert (rest.first_offset, rest.next_offset) == (5, 6)
    assert part.since(6) is None
