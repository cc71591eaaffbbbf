"""Records are written in their order; those that fail are put aside, or stop the task."""

import json

import pyarrow as pa
import pytest

from moldau.client.record import ConsumerRecord
from moldau.connect.connector import Sink
from moldau.connect.errors import DataError
from moldau.connect.worker.pipeline import SinkPipeline
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.sink_writing import FailedRecords, SinkWriter
from unit.connect.worker.raw import raw

TEXT = {"key.converter": "String", "value.converter": "String"}


class Picky(Sink):
    """Refuses one value."""

    def __init__(self) -> None:
        super().__init__({})
        self.batches: list[tuple[int, list[object]]] = []
        self.is_closed = False
        self.attempts = 0

    def write(self, table: pa.Table, batch_id: int) -> None:
        self.attempts += 1
        values = table.column("value").to_pylist()
        if "bad" in values:
            raise DataError("bad is not stored")
        self.batches.append((batch_id, values))

    def close(self) -> None:
        self.is_closed = True


def failed(told: list[str], **config: str) -> FailedRecords:
    return FailedRecords.of(WorkerSettings({}), "c", config, 0, told.append)


def test_neighbours_of_one_kind_are_a_batch_and_batches_are_counted() -> None:
    sink = Picky()
    writer = SinkWriter(sink, SinkPipeline(TEXT, {}), failed([]))
    writer.write([raw(b"a"), raw(b"b"), raw(b"c", topic="other")])
    writer.write([raw(b"d")])
    writer.close()
    assert sink.batches == [(0, ["a", "b"]), (1, ["c"]), (2, ["d"])]
    assert sink.is_closed


def test_a_record_that_must_not_be_left_out_is_named() -> None:
    writer = SinkWriter(Picky(), SinkPipeline(TEXT, {}), failed([]))
    with pytest.raises(DataError, match=r"bad is not stored \(TASK_PUT .* in t-0 at offset 7"):
        writer.write([raw(b"bad", offset=7)])


def test_what_is_left_out_is_logged_if_that_is_wanted() -> None:
    told: list[str] = []
    sink = Picky()
    lenient = {"errors.tolerance": "all", "errors.log.enable": "true"}
    writer = SinkWriter(sink, SinkPipeline(TEXT, {}), failed(told, **lenient))
    writer.write([raw(b"a"), raw(b"bad", offset=1), raw(b"\xff", offset=2), raw(b"b")])
    assert [values for _, values in sink.batches] == [["a"], ["b"]]
    assert len(told) == 2
    assert told[1] == "bad is not stored (TASK_PUT, t-0 at 1)"
    quiet: list[str] = []
    silent = failed(quiet, **{"errors.tolerance": "all"})
    SinkWriter(sink, SinkPipeline(TEXT, {}), silent).write([raw(b"bad")])
    assert quiet == []


def test_one_bad_record_of_many_is_found_by_halves() -> None:
    sink = Picky()
    writer = SinkWriter(sink, SinkPipeline(TEXT, {}), failed([], **{"errors.tolerance": "all"}))
    writer.write([raw(b"bad" if at == 40 else b"%d" % at, offset=at) for at in range(64)])
    written = [value for _, values in sink.batches for value in values]
    assert written == [str(at) for at in range(64) if at != 40]
    assert sink.attempts < 32
    assert writer.settle()


def test_records_that_are_converted_together_fail_one_by_one() -> None:
    class Refuses(Sink):
        def __init__(self) -> None:
            super().__init__({})
            self.written: list[object] = []

        def write(self, table: pa.Table, batch_id: int) -> None:
            del batch_id
            found = [each["id"] for each in table.column("value").to_pylist()]
            if 77 in found:
                raise DataError("77 is not stored")
            self.written += found

    def record(number: int) -> ConsumerRecord[bytes, bytes]:
        schema = {"type": "struct", "fields": [{"field": "id", "type": "int64"}]}
        data = json.dumps({"schema": schema, "payload": {"id": number}}).encode()
        return ConsumerRecord("t", 0, number, 5, data, data, ())

    sink, told = Refuses(), list[str]()
    lenient = failed(told, **{"errors.tolerance": "all", "errors.log.enable": "true"})
    writer = SinkWriter(sink, SinkPipeline({}, {}), lenient)
    writer.write([record(number) for number in range(40)])
    writer.write([record(number) for number in range(40, 100)])
    assert sorted(map(str, sink.written)) == sorted(str(each) for each in range(100) if each != 77)
    assert told == ["77 is not stored (TASK_PUT, t-0 at 77)"]
    strict = SinkWriter(sink, SinkPipeline({}, {}), failed([]))
    strict.write([record(1)])
    with pytest.raises(DataError, match=r"77 is not stored .* at offset 60"):
        strict.write([record(number) for number in range(60, 100)])
