"""The thread that makes transactions durable."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from moldau.coordination.journal import FILE_NAME, StoreError, TreeJournal
from moldau.coordination.nodes import Nodes
from moldau.coordination.tree import Create
from moldau.coordination.writer import JournalWriter


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / FILE_NAME)


def unexpected(what: object) -> None:
    pytest.fail(str(what))


async def test_every_submitted_transaction_is_counted_and_stored(path: str) -> None:
    counted: list[int] = []
    writer = JournalWriter(path)
    stored = await writer.open()
    assert (stored.rows, stored.last_zxid, stored.session_id) == ([], 0, 1)
    writer.start(committed=counted.append, failed=unexpected)
    nodes = Nodes()
    for number in range(100):
        writer.submit(nodes.apply([Create(f"/{number}")], session_id=1, now_ms=0))
    await writer.close()
    assert sum(counted) == 100
    with TreeJournal(path) as journal:
        assert len(journal.rows()) == 101
        assert journal.counter("zxid") == 100


async def test_a_failure_is_told_and_ends_the_thread(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[Exception] = []
    writer = JournalWriter(path)
    await writer.open()
    writer.start(committed=unexpected, failed=failures.append)

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("disk is full")

    monkeypatch.setattr(TreeJournal, "commit", fail)
    writer.submit(Nodes().apply([Create("/a")], session_id=1, now_ms=0))
    await writer.close()
    assert [str(error) for error in failures] == ["disk is full"]


async def test_damage_that_shows_while_reading_is_told_as_such(path: str) -> None:
    with TreeJournal(path) as journal:
        journal._database.execute("drop table node")
    with pytest.raises(StoreError, match="cannot be read"):
        await asyncio.wait_for(JournalWriter(path).open(), 10)


async def test_a_copy_has_all_that_was_submitted_before(path: str, tmp_path: Path) -> None:
    writer = JournalWriter(path)
    await writer.open()
    writer.start(committed=lambda _: None, failed=unexpected)
    nodes = Nodes()
    writer.submit(nodes.apply([Create("/a")], session_id=1, now_ms=0))
    await writer.copy_to(str(tmp_path / "copy.sqlite"))
    writer.submit(nodes.apply([Create("/b")], session_id=1, now_ms=0))
    with pytest.raises(OSError, match="missing"):
        await writer.copy_to(str(tmp_path / "missing" / "copy.sqlite"))
    await writer.close()
    with TreeJournal(str(tmp_path / "copy.sqlite")) as journal:
        assert {row.path for row in journal.rows()} == {"/", "/a"}
    with TreeJournal(path) as journal:
        assert {row.path for row in journal.rows()} == {"/", "/a", "/b"}
