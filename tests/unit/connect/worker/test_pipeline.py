"""Records go through converters and transformations, both ways."""

from collections.abc import Iterator

from moldau.connect.connector import SourceBatch
from moldau.connect.data.arrow import table_of
from moldau.connect.data.record import ConnectRecord, Datum, Outgoing
from moldau.connect.data.schema import STRING
from moldau.connect.errors import DataError
from moldau.connect.worker.dead_letters import TRANSFORMATION, VALUE_CONVERTER, FailedRecord
from moldau.connect.worker.pipeline import (
    Incoming,
    SinkPipeline,
    SourcePipeline,
    grouped,
)
from unit.connect.worker.raw import raw

TEXT = {"key.converter": "String", "value.converter": "String"}
PLAIN = {**TEXT, "value.converter": "Json", "value.converter.schemas.enable": "false"}


def test_rows_become_bytes_of_topics() -> None:
    pipeline = SourcePipeline(TEXT, {"topic": "t"})
    header = [{"key": "h", "value": b"x"}]
    rows = [{"key": "k", "value": "v", "timestamp": 5, "headers": header, "partition": 2}]
    assert list(pipeline.outgoing(SourceBatch([table_of(STRING, STRING, rows)], {}))) == [
        Outgoing("t", b"k", b"v", (("h", b"x"),), 5, 2)
    ]


def test_a_row_that_does_not_fit_is_an_error_in_its_place() -> None:
    cast = {"transforms": "c", "transforms.c.type": "Cast$Value", "transforms.c.spec": "int32"}
    pipeline = SourcePipeline(TEXT, {"topic": "t", **cast})
    rows = [{"value": "x"}, {"value": "5"}]
    found = list(pipeline.outgoing(SourceBatch([table_of(None, STRING, rows)], {})))
    assert isinstance(found[0], DataError)
    assert isinstance(found[1], Outgoing)
    assert found[1].value == b"5"


def test_records_come_after_tables_and_are_made_as_they_are_taken() -> None:
    made = []

    def records() -> Iterator[ConnectRecord]:
        made.append("one")
        yield ConnectRecord("own", value=Datum("b", STRING))

    batch = SourceBatch([table_of(None, STRING, [{"value": "a"}])], {}, records())
    outgoing = SourcePipeline(TEXT, {"topic": "t"}).outgoing(batch)
    first = next(outgoing)
    assert made == []
    found = [first, *outgoing]
    assert [each.topic for each in found if isinstance(each, Outgoing)] == ["t", "own"]


def test_bytes_become_records_or_say_where_they_failed() -> None:
    cast = {"transforms": "c", "transforms.c.type": "Cast$Value", "transforms.c.spec": "a:int8"}
    pipeline = SinkPipeline(PLAIN, cast)
    good = pipeline.incoming(raw(b'{"a":"1"}', offset=3))
    assert isinstance(good, Incoming)
    assert good.record.value.value == {"a": 1}
    assert (good.record.offset, good.record.headers[0][1].value) == (3, 1)
    for data, stage in ((b"{", VALUE_CONVERTER), (b'{"a":"x"}', TRANSFORMATION)):
        bad = pipeline.incoming(raw(data))
        assert isinstance(bad, FailedRecord)
        assert bad.stage == stage
    drop = {"transforms": "d", "transforms.d.type": "Filter"}
    assert SinkPipeline(PLAIN, drop).incoming(raw(b"1")) is None


def test_neighbours_of_one_topic_and_schema_go_together() -> None:
    pipeline = SinkPipeline(TEXT, {})
    listed = [raw(b"a"), raw(None), raw(b"b", topic="u"), raw(b"c", topic="u")]
    found = [pipeline.incoming(each) for each in listed]
    groups = grouped(each for each in found if isinstance(each, Incoming))
    assert [[each.raw.value for each in group] for group in groups] == [[b"a", None], [b"b", b"c"]]
