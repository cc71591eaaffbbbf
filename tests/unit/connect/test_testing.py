"""Connectors are run without a cluster."""

from pathlib import Path

from moldau.connect.connector import Offset, SourceBatch, SourcePartition
from moldau.connect.connectors.file_stream import FileStreamSink, FileStreamSource
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import STRING
from moldau.connect.testing import read, write


def test_a_source_is_read_to_its_end_and_later_from_there(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("one\ntwo\n")
    config = {"file": str(path), "topic": "lines", "batch.size": "1"}
    first = read(FileStreamSource, config)
    assert first.values() == ["one", "two"]
    with path.open("a") as file:
        file.write("three\n")
    assert read(FileStreamSource, config, first.offsets).values() == ["three"]


def test_transformations_of_the_settings_apply(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("one\n")
    config = {"file": str(path), "topic": "lines", "transforms": "t"}
    config |= {"transforms.t.type": "HoistField$Value", "transforms.t.field": "line"}
    assert read(FileStreamSource, config).values() == [{"line": "one"}]


def test_a_sink_gets_values(tmp_path: Path) -> None:
    write(FileStreamSink, {"file": str(tmp_path / "out")}, ["one", "two"])
    assert (tmp_path / "out").read_text() == "one\ntwo\n"


def test_records_of_a_batch_are_read_as_tables_are() -> None:
    class Once(FileStreamSource):
        def read(
            self, partition: SourcePartition, start: Offset | None, limit: int
        ) -> SourceBatch | None:
            records = [ConnectRecord("t", value=Datum("a", STRING))]
            return None if start else SourceBatch([], {"done": limit}, records)

    config = {"file": "x", "topic": "t", "transforms": "h"}
    config |= {"transforms.h.type": "HoistField$Value", "transforms.h.field": "f"}
    assert read(Once, config).values() == [{"f": "a"}]
