"""The file of the embedded store."""

import os
import sqlite3
from pathlib import Path

import pytest

from moldau.coordination.journal import FILE_NAME, StoreError, TreeJournal
from moldau.coordination.nodes import NodeRow, SessionRow


def _row(path: str, data: bytes = b"") -> NodeRow:
    return NodeRow(
        path=path,
        data=data,
        czxid=1,
        mzxid=2,
        version=3,
        children_created=4,
        ephemeral_owner=5,
        created_ms=6,
        changed_ms=7,
    )


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / FILE_NAME)


def test_rows_and_counters_are_there_after_opening_again(path: str) -> None:
    with TreeJournal(path) as journal:
        journal.commit({"/a": _row("/a", b"1"), "/a/b": _row("/a/b")}, {"zxid": 9})
        journal.commit({"/a/b": None, "/a": _row("/a", b"2")}, {"session": 4})
    with TreeJournal(path) as journal:
        assert journal.rows() == [_row("/a", b"2")]
        assert (journal.counter("zxid"), journal.counter("session")) == (9, 4)


def test_a_commit_that_fails_leaves_nothing(path: str) -> None:
    with TreeJournal(path) as journal:
        with pytest.raises(sqlite3.Error):
            journal.commit({"/a": _row("/a")}, {"zxid": None})  # type: ignore[dict-item]
        assert journal.rows() == []


def test_writes_are_forced_to_disk(path: str) -> None:
    with TreeJournal(path) as journal:
        (mode,) = journal._database.execute("pragma synchronous").fetchone()
        (journal_mode,) = journal._database.execute("pragma journal_mode").fetchone()
    assert (mode, journal_mode) == (2, "wal")


def _modes(path: str) -> dict[str, int]:
    names = [name for name in sorted(os.listdir(os.path.dirname(path))) if FILE_NAME in name]
    folder = os.path.dirname(path)
    return {name: os.stat(os.path.join(folder, name)).st_mode & 0o777 for name in names}


def test_nobody_else_can_read_it_whatever_the_umask(path: str) -> None:
    before = os.umask(0)
    try:
        with TreeJournal(path) as journal:
            journal.commit({"/a": _row("/a")}, {})
            assert _modes(path) == {FILE_NAME: 0o600, f"{FILE_NAME}-wal": 0o600}
    finally:
        os.umask(before)


def test_files_of_an_earlier_start_that_let_others_in_are_closed_to_them(path: str) -> None:
    TreeJournal(path).close()
    writing = sqlite3.connect(path)  # a write-ahead log stays, as after a crash
    writing.execute("insert into counter values ('x', 1)")
    writing.commit()
    copies = {name: Path(f"{path}{name}").read_bytes() for name in ("", "-wal")}
    writing.close()
    for name, data in copies.items():
        Path(f"{path}{name}").write_bytes(data)
        os.chmod(f"{path}{name}", 0o644)
    with TreeJournal(path) as journal:
        assert journal.counter("x") == 1
        assert _modes(path) == {FILE_NAME: 0o600, f"{FILE_NAME}-wal": 0o600}


def test_a_file_of_a_newer_version_is_refused(path: str) -> None:
    with TreeJournal(path) as journal:
        journal._database.execute("pragma user_version = 99")
    with pytest.raises(StoreError, match="has version 99 of the format, not 2"):
        TreeJournal(path)


def test_a_file_of_the_first_version_is_taken_over(path: str) -> None:
    old = sqlite3.connect(path)
    columns = NodeRow._fields[:9]
    old.execute(f"create table node ({columns[0]} text primary key, {', '.join(columns[1:])})")
    old.execute("create table counter (name text primary key, value integer not null)")
    old.execute("insert into counter values ('zxid', 7), ('session', 3)")
    old.execute("insert into node values ('/a', x'31', 1, 2, 3, 4, 5, 6, 7)")
    old.execute("pragma user_version = 1")
    old.commit()
    old.close()
    for _ in range(2):
        with TreeJournal(path) as journal:
            assert journal.rows() == [_row("/a", b"1")]
            assert (journal.counter("zxid"), journal.sessions()) == (7, [])


def test_sessions_are_there_after_opening_again(path: str) -> None:
    first, second = SessionRow(1, b"secret", 4_000), SessionRow(2, b"other", 5_000)
    with TreeJournal(path) as journal:
        journal.commit({}, {}, {1: first, 2: second})
        journal.commit({}, {}, {1: None})
    with TreeJournal(path) as journal:
        assert journal.sessions() == [second]


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        TreeJournal(str(tmp_path / "missing" / FILE_NAME))


def test_a_copy_is_a_store_of_its_own(path: str, tmp_path: Path) -> None:
    copy = str(tmp_path / "copy.sqlite")
    with TreeJournal(path) as journal:
        journal.commit({"/a": _row("/a", b"1")}, {"zxid": 7})
        journal.copy_to(copy)
        journal.commit({"/a": _row("/a", b"2")}, {"zxid": 8})
    with TreeJournal(copy) as journal:
        assert (journal.rows(), journal.counter("zxid")) == ([_row("/a", b"1")], 7)
    assert Path(copy).stat().st_mode & 0o777 == 0o600
