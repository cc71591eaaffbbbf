"""The thread that makes transactions durable, as many as have gathered with one commit."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue

from moldau.coordination.journal import StoreError, TreeJournal
from moldau.coordination.nodes import NodeRow, TreeTransaction


@dataclass(frozen=True, slots=True)
class Stored:
    """What the file held when it was opened."""

    rows: list[NodeRow]
    last_zxid: int
    session_id: int
    """A new one, greater than all before."""


class JournalWriter:
    """Owns the journal from `open` to `close`; the callbacks run on the event loop."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[TreeTransaction | None] = SimpleQueue()
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
        transactions = [transaction for transaction in gathered if transaction is not None]
        if transactions:
            rows: dict[str, NodeRow | None] = {}
            for transaction in transactions:
                rows.update(transaction.rows)
            journal.commit(rows, {"zxid": transactions[-1].zxid})
            self._post(self._committed, len(transactions))
        return len(transactions) == len(gathered)

    def _post(self, function: Callable[..., None], argument: object) -> None:
        self._loop.call_soon_threadsafe(function, argument)


def _load(journal: TreeJournal) -> Stored:
    try:
        session_id = journal.counter("session") + 1
        journal.commit({}, {"session": session_id})
        return Stored(journal.rows(), journal.counter("zxid"), session_id)
    except sqlite3.Error as error:
        raise StoreError(f"{journal.path} cannot be read: {error}") from error
