"""One SELECT over one table, and nothing else."""

import io
import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.ipc
import pytest

from moldau.console.queries import worker
from moldau.console.queries.worker import NotOneSelect, answer, cell, check, run

TABLE = pa.table(
    {
        "partition": pa.array([0, 0, 1], pa.int32()),
        "value": ['{"user": "anna", "n": 9007199254740993}', "no json", '{"user": "bob"}'],
    }
)


def ran(sql: str) -> Any:
    return run(sql, TABLE, 30.0)


def rows(sql: str) -> Any:
    return ran(sql)["rows"]


def test_json_is_asked_and_what_is_none_is_null() -> None:
    found = ran("SELECT json->>'$.user' AS who, count(*) FROM records GROUP BY 1")
    assert sorted(found["rows"], key=str) == [["anna", "1"], ["bob", "1"], [None, "1"]]
    assert [each["name"] for each in found["columns"]] == ["who", "count_star()"]
    assert rows("SELECT CAST(json->'$.n' AS BIGINT) FROM records LIMIT 1") == [["9007199254740993"]]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1; SELECT 2",
        "DROP TABLE slice",
        "CREATE TABLE a AS SELECT 1",
        "COPY slice TO '/tmp/x'",
        "ATTACH '/tmp/x'",
        "SET memory_limit = '9GB'",
        "PRAGMA version",
        "INSTALL httpfs",
        "INSERT INTO slice SELECT * FROM slice",
        "",
    ],
)
def test_only_a_select_is_run(sql: str) -> None:
    with pytest.raises(NotOneSelect):
        check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM TABLE",
        "SELECT * FROM sniff_csv('{file}')",
        "SELECT * FROM parquet_metadata('{file}')",
        "SELECT * FROM sqlite_scan('{file}', 'a')",
        "SELECT getenv('HOME')",
    ],
)
def test_neither_files_nor_variables_are_read(sql: str, tmp_path: Path) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("a,b\n1,2\n")
    with pytest.raises(duckdb.Error):
        run(sql.format(file=file), TABLE, 30.0)


def test_what_is_large_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ran("SELECT * FROM range(9999)")
    assert (len(found["rows"]), found["is_cut"]) == (worker.ROWS_MAX, True)
    assert len(rows("SELECT repeat('x', 99999)")[0][0]) == worker.CELL_CHARACTERS_MAX + 1
    monkeypatch.setattr(worker, "_RESULT_CHARACTERS_MAX", 20)
    found = ran("SELECT repeat('x', 9) FROM range(9)")
    assert (len(found["rows"]), found["is_cut"]) == (2, True)


def test_values_are_text() -> None:
    assert [cell(each) for each in (None, True, b"\xff", 2**70, [1, {"a": None}])] == [
        None,
        "true",
        "0xff",
        str(2**70),
        '[1, {"a": null}]',
    ]


def request(sql: str, seconds: float) -> io.BytesIO:
    sink = io.BytesIO(json.dumps({"sql": sql, "seconds": seconds}).encode() + b"\n")
    sink.seek(0, io.SEEK_END)
    with pyarrow.ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)
    sink.seek(0)
    return sink


def test_what_goes_wrong_is_said() -> None:
    assert answer(request("SELECT count(*) FROM records", 30.0))["rows"] == [["3"]]
    assert "took too long" in str(
        answer(request("SELECT count(*) FROM range(10000000000000)", 0.1))
    )
    assert "nowhere" in str(answer(request("SELECT * FROM nowhere", 30.0))["error"])
    assert answer(request("DROP TABLE slice", 30.0)) == {"error": "one SELECT, and nothing else"}
