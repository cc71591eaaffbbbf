"""Lines of files, as Kafka's own connectors read and write them."""

from pathlib import Path

import pytest

from moldau.connect.connectors.file_stream import FileStreamSink, FileStreamSource
from moldau.connect.errors import ConnectError, RetriableConnectError
from moldau.connect.testing import read, write


def config(path: Path, **more: str) -> dict[str, str]:
    return {"file": str(path), "topic": "t", **more}


def test_only_whole_lines_are_read_and_bytes_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes("ü\r\nb\n\nhalf".encode())
    found = read(FileStreamSource, config(path))
    assert found.values() == ["ü", "b", ""]
    assert found.offsets == [({"filename": str(path)}, {"position": 7})]


def test_a_line_may_be_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("x" * 5_000_000 + "\ny\n")
    assert [len(str(each)) for each in read(FileStreamSource, config(path)).values()] == [
        5_000_000,
        1,
    ]


def test_a_file_that_is_not_there_is_waited_for(tmp_path: Path) -> None:
    assert read(FileStreamSource, config(tmp_path / "none")).values() == []
    with pytest.raises(RetriableConnectError, match="Is a directory"):
        read(FileStreamSource, config(tmp_path))
    with pytest.raises(ConnectError, match="name a file"):
        FileStreamSource({"topic": "t"})


@pytest.mark.parametrize(
    ("partition", "offset", "why"),
    [
        ({"x": "y"}, None, "should contain the key 'filename'"),
        ({"filename": "y"}, {"x": 1}, "contain the key 'position'"),
        ({"filename": "y"}, {"position": "1"}, "a Long value"),
        ({"filename": "y"}, {"position": -1}, "non-negative"),
    ],
)
def test_offsets_that_make_no_sense_are_refused(
    partition: dict[str, object], offset: dict[str, object] | None, why: str
) -> None:
    source = FileStreamSource(config(Path("f")))
    source.check_offset({"filename": "f"}, None)
    source.check_offset({"filename": "f"}, {"position": 1})
    with pytest.raises(ConnectError, match=why):
        source.check_offset(partition, offset)


def test_values_are_appended_as_java_prints_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out"
    path.write_text("old\n")
    write(FileStreamSink, {"file": str(path)}, [{"a": 1}, {"a": None}])
    assert path.read_text() == "old\nStruct{a=1}\nStruct{a=null}\n"
    write(FileStreamSink, {}, ["x"])
    assert capsys.readouterr().out == "x\n"
    with pytest.raises(RetriableConnectError, match="Is a directory"):
        write(FileStreamSink, {"file": str(tmp_path)}, ["x"])
