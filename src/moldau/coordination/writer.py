"""The thread that makes transactions durable, as many as have gathered with one commit."""

import asyncio
import errno
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue

from moldau.coordination.journal import StoreError, TreeJournal
from moldau.coordination.nodes import NodeRow, SessionRow, TreeTransaction


@dataclass(frozen=True, slots=True)
class Stored:
    """What the file held when it was opened."""

    rows: list[NodeRow]
    last_zxid: int
    session_id: int
    """A new one, greater than all before."""
    sessions: list[SessionRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Copy:
    """A request for a copy of the file, after all transactions before it."""

    path: str
    done: "asyncio.Future[None]"


class JournalWriter:
    """Owns the journal from `open` to `close`; the callbacks run on the event loop."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[TreeTransaction | _Copy | None] = SimpleQueue()
        self._opened: asyncio.Future[Stored] = self._loop.create_future()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._committed: Callable[[int], None]
        self._failed: Callable[[Exception], None]

    async def open(self) -> Stored:
        """Read the file; StoreError if it cannot be used."""
        threading.Thread(target=self._run, name="moldau-store", daemon=True).start()
        try:
            return await self._opened
        except StoreError:
            await self._ended
            raise

    def start(
        self, *, committed: Callable[[int], None], failed: Callable[[Exception], None]
    ) -> None:
        """Set what is called when transactions became durable, or when none will be."""
        self._committed = committed
        self._failed = failed

    def submit(self, transaction: TreeTransaction) -> None:
        """Make a transaction durable after those before it."""
        self._queue.put(transaction)

    async def copy_to(self, path: str) -> None:
        """Write what is durable, and all that was submitted before, to a new file."""
        copy = _Copy(path, self._loop.create_future())
        self._queue.put(copy)
        await copy.done

    async def close(self) -> None:
        """Return when everything submitted is durable, or has failed."""
        self._queue.put(None)
        await self._ended

    def _run(self) -> None:
        try:
            with TreeJournal(self._path) as journal:
                self._post(self._opened.set_result, _load(journal))
                while self._store_what_waits(journal):
                    pass
        except StoreError as error:
            self._post(self._opened.set_exception, error)
        except sqlite3.Error as error:
            self._post(self._failed, error)
        finally:
            self._post(self._ended.set_result, None)

    def _store_what_waits(self, journal: TreeJournal) -> bool:
        """One commit; False once there is nothing to come."""
        gathered = [self._queue.get()]
        while not self._queue.empty():
            gathered.append(self._queue.get())
        transactions = [each for each in gathered if isinstance(each, TreeTransaction)]
        if transactions:
            rows: dict[str, NodeRow | None] = {}
            sessions: dict[int, SessionRow | None] = {}
            for transaction in transactions:
                rows.update(transaction.rows)
                sessions.update(transaction.sessions)
            counters = {"zxid": transactions[-1].zxid}
            begun = [number for number, row in sessions.items() if row is not None]
            if begun:
                counters["session"] = max(begun)
            journal.commit(rows, counters, sessions)
            self._post(self._committed, len(transactions))
        for copy in gathered:
            if isinstance(copy, _Copy):
                self._copy(journal, copy)
        return None not in gathered

    def _copy(self, journal: TreeJournal, copy: _Copy) -> None:
        """A copy that fails, for want of room perhaps, is no failure of the journal."""
        try:
            journal.copy_to(copy.path)
        except (OSError, sqlite3.Error) as error:
            message = OSError(errno.EIO, str(error), copy.path)
            self._post(copy.done.set_exception, message)
        else:
            self._post(copy.done.set_result, None)

    def _post(self, function: Callable[..., None], argument: object) -> None:
        self._loop.call_soon_threadsafe(function, argument)


def _load(journal: TreeJournal) -> Stored:
    try:
        session_id = journal.counter("session") + 1
        journal.commit({}, {"session": session_id})
        zxid = journal.counter("zxid")
        return Stored(journal.rows(), zxid, session_id, journal.sessions())
    except sqlite3.Error as error:
        raise StoreError(f"{journal.path} cannot be read: {error}") from error
