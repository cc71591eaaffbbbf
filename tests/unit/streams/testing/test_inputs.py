"""Files of a test driver have the order in which records were piped."""

from pathlib import Path

import pyarrow.parquet as pq

from moldau.streams.testing.inputs import FileInputs, InputRecord


class NoSession:
    """Files are written without Spark."""


def test_a_file_has_one_micro_batch_and_offsets_go_on(tmp_path: Path) -> None:
    inputs = FileInputs(NoSession(), tmp_path / "input")  # type: ignore[arg-type]
    inputs.write([InputRecord("a", b"k", None, 1), InputRecord("b", None, b"v", 2)])
    inputs.write([InputRecord("a", b"k", b"w", 3)])
    first, second = sorted((tmp_path / "input").glob("*.parquet"))
    assert first.stat().st_mtime < second.stat().st_mtime
    rows = pq.read_table(first).to_pylist() + pq.read_table(second).to_pylist()
    assert [(row["topic"], row["offset"], row["value"]) for row in rows] == [
        ("a", 0, None),
        ("b", 1, b"v"),
        ("a", 2, b"w"),
    ]
    assert rows[2]["timestamp"].timestamp() == 0.003
