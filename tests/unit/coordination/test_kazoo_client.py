"""kazoo's client on an event loop, as far as it goes without a server."""

import asyncio
import threading

from kazoo.security import CREATOR_ALL_ACL, OPEN_ACL_UNSAFE

from moldau.coordination.kazoo_client import Inbox, acls_of
from moldau.coordination.protection import Protection


async def test_what_a_thread_puts_into_the_inbox_runs_on_the_loop() -> None:
    inbox, ran = Inbox(), asyncio.Event()
    threads: list[int] = []

    def run() -> None:
        threads.append(threading.get_ident())
        ran.set()

    await asyncio.to_thread(inbox.put, run)
    await ran.wait()
    assert threads == [threading.get_ident()]


async def test_what_the_loop_puts_into_the_inbox_runs_at_once() -> None:
    ran: list[bool] = []
    Inbox().put(lambda: ran.append(True))
    assert ran == [True]


def test_nodes_are_open_unless_protected() -> None:
    assert acls_of("/config/users/anna", Protection()) == OPEN_ACL_UNSAFE
    assert acls_of("/config/users/anna", Protection(has_acls=True)) == CREATOR_ALL_ACL
