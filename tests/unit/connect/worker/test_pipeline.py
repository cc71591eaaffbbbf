"""Records go through converters and transformations, both ways."""

import json
from collections.abc import Iterator

import pytest

from moldau.client.record import ConsumerRecord
from moldau.connect.connector import SourceBatch
from moldau.connect.data.arrow import table_of, table_of_records
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


_ID = {"type": "struct", "optional": False, "fields": [{"field": "id", "type": "int64"}]}


def known(
    number: int,
    topic: str = "t",
    headers: tuple[tuple[str, bytes], ...] = (),
    **sides: bytes | None,
) -> ConsumerRecord[bytes, bytes]:
    data = json.dumps({"schema": _ID, "payload": {"id": number}}).encode()
    key, value = sides.get("key", data), sides.get("value", data)
    return ConsumerRecord(topic, number % 3, number, 5, key, value, headers)


def test_many_records_are_converted_together_as_they_would_be_one_by_one() -> None:
    records = [known(number) for number in range(30)]
    pipeline = SinkPipeline({}, {})
    assert pipeline.table(records) is None  # it has seen no schema
    found = [pipeline.incoming(each) for each in records]
    one_by_one = table_of_records([each.record for each in found if isinstance(each, Incoming)])
    together = pipeline.table(records)
    assert together is not None
    assert together.schema.equals(one_by_one.schema, check_metadata=True)
    assert together.equals(one_by_one)


@pytest.mark.parametrize(
    ("settings", "records"),
    [
        ({}, [known(number) for number in range(29)]),
        ({}, [*map(known, range(30)), known(30, topic="other")]),
        ({}, [*map(known, range(30)), known(30, headers=(("h", b"1"),))]),
        ({}, [*map(known, range(30)), known(30, value=None)]),
        ({}, [*map(known, range(30)), known(30, key=b"5")]),
        ({"transforms": "f", "transforms.f.type": "Filter"}, [*map(known, range(30))]),
        ({"key.converter": "String"}, [*map(known, range(30))]),
    ],
)
def test_what_is_to_be_looked_at_is_not_converted_together(
    settings: dict[str, str], records: list[ConsumerRecord[bytes, bytes]]
) -> None:
    pipeline = SinkPipeline({}, settings)
    for each in records:
        pipeline.incoming(each)
    assert pipeline.table(records) is None
