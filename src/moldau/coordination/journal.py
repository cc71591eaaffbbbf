"""The file of the embedded store: the rows of a tree in SQLite.

Table `node` has one row per node, `session` one per session that may come back after a restart,
and `counter` the last transaction id and session id. The write-ahead log with synchronous=FULL
makes a commit durable before it returns: a block of producer ids that was given out and then
forgotten would be given out again. The exclusive lock keeps a second broker off the file.
"""

import os
import sqlite3
import stat
from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import Self

from moldau.coordination.nodes import NodeRow, SessionRow

FILE_NAME = "moldau-store.sqlite"

_VERSION = 2
_PRIVATE = 0o600
_PRIMARY = 0xFF  # of an error code, without what is added to it
_COLUMNS = NodeRow._fields
_SESSION = "create table session (session_id integer primary key, password, timeout_ms)"
_SCHEMA = (
    f"create table node ({_COLUMNS[0]} text primary key, {', '.join(_COLUMNS[1:])}) without rowid",
    _SESSION,
    "create table counter (name text primary key, value integer not null) without rowid",
    "insert into counter values ('zxid', 0), ('session', 0)",
    f"pragma user_version = {_VERSION}",
)
# Version 1 had neither sessions nor what ZooKeeper alone knows of a node.
_FROM_VERSION_1 = (
    "alter table node add column pzxid not null default 0",
    "alter table node add column acl_version not null default 0",
    "alter table node add column acls not null default ''",
    _SESSION,
    f"pragma user_version = {_VERSION}",
)
_SELECT = f"select {', '.join(_COLUMNS)} from node order by path"  # noqa: S608
_UPSERT = f"insert or replace into node values ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608


class StoreError(Exception):
    """A store that cannot be used: says which file, and why."""


class TreeJournal:
    """An open file; only one at a time, and only from one thread."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._database = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def rows(self) -> list[NodeRow]:
        """Every stored node, parents before their children."""
        found = self._database.execute(_SELECT)
        # Most of their numbers are equal, and are kept once.
        kept: dict[object, object] = {}
        return [NodeRow._make([kept.setdefault(one, one) for one in row]) for row in found]

    def counter(self, name: str) -> int:
        """The stored value of `zxid` or `session`."""
        found = self._database.execute("select value from counter where name = ?", (name,))
        value: int = found.fetchone()[0]
        return value

    def sessions(self) -> list[SessionRow]:
        """Every session that has not ended."""
        found = self._database.execute("select session_id, password, timeout_ms from session")
        return [SessionRow._make(row) for row in found]

    def commit(
        self,
        rows: Mapping[str, NodeRow | None],
        counters: Mapping[str, int],
        sessions: Mapping[int, SessionRow | None] = MappingProxyType({}),
    ) -> None:
        """Store rows and sessions (None: remove) and counters in one transaction.

        They are durable on return.
        """
        with self._database:
            self._database.execute("begin immediate")
            self._database.executemany(
                "delete from node where path = ?",
                [(path,) for path, row in rows.items() if row is None],
            )
            self._database.executemany(_UPSERT, [row for row in rows.values() if row is not None])
            self._database.executemany(
                "update counter set value = ? where name = ?",
                [(value, name) for name, value in counters.items()],
            )
            self._database.executemany(
                "delete from session where session_id = ?",
                [(number,) for number, row in sessions.items() if row is None],
            )
            self._database.executemany(
                "insert or replace into session values (?, ?, ?)",
                [row for row in sessions.values() if row is not None],
            )

    def copy_to(self, path: str) -> None:
        """Write all that is committed into a new file of its own."""
        _keep_private(path)
        target = sqlite3.connect(path)
        try:
            self._database.backup(target)
        finally:
            target.close()

    def close(self) -> None:
        """Close the file; what was committed is in it."""
        self._database.close()

    def _open(self) -> sqlite3.Connection:
        try:
            _keep_private(self.path)
            database = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{self.path} cannot be opened: {error}") from error
        try:
            _prepare(database)
        except sqlite3.OperationalError as error:
            database.close()
            if error.sqlite_errorcode & _PRIMARY == sqlite3.SQLITE_BUSY:
                raise StoreError(f"{self.path} is in use by another process") from error
            raise StoreError(f"{self.path} cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            database.close()
            raise StoreError(f"{self.path} is damaged: {error}") from error
        (version,) = database.execute("pragma user_version").fetchone()
        if version != _VERSION:
            database.close()
            raise StoreError(f"{self.path} has version {version} of the format, not {_VERSION}")
        return database


def _keep_private(path: str) -> None:
    """Let no other user read the file: users' credentials and tokens are in it.

    SQLite gives its write-ahead log the mode that the file has. Files of an earlier start, by
    a version or a umask that let others in, are ours too, and are closed to them.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE))
    for name in (path, f"{path}-wal"):
        if os.path.exists(name) and stat.S_IMODE(os.stat(name).st_mode) & ~_PRIVATE:
            os.chmod(name, _PRIVATE)


def _prepare(database: sqlite3.Connection) -> None:
    """Set the modes, take the lock, and make the tables of a new file."""
    database.execute("pragma locking_mode = exclusive")
    database.execute("pragma journal_mode = wal")
    database.execute("pragma synchronous = full")
    # Only a write takes the lock.
    database.execute("begin immediate")
    (version,) = database.execute("pragma user_version").fetchone()
    for statement in {0: _SCHEMA, 1: _FROM_VERSION_1}.get(version, ()):
        database.execute(statement)
    database.execute("commit")
