"""A statement has a process of its own, which ends."""

import asyncio

import pyarrow as pa
import pytest

from moldau.console.queries import process
from moldau.console.queries.process import ask

TABLE = pa.table({"value": ["a", "b"]})


async def test_a_statement_is_answered() -> None:
    found = await ask("SELECT count(*) AS n FROM records", TABLE, 60.0)
    assert (found["rows"], found["columns"]) == ([["2"]], [{"name": "n", "type": "BIGINT"}])


async def test_memory_that_duckdb_does_not_count_is_bounded() -> None:
    found = await ask("SELECT length(repeat('x', 4000000000))", TABLE, 60.0)
    assert "too much memory" in str(found["error"]), found


async def test_a_process_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_START_S", 0.0)
    found = await ask("SELECT 1", TABLE, 0.01)
    assert "ended" in str(found["error"])


async def test_whoever_stops_waiting_ends_it() -> None:
    asking = asyncio.create_task(ask("SELECT count(*) FROM range(1000000000000000)", TABLE, 600.0))
    await asyncio.wait([asking], timeout=0.1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
