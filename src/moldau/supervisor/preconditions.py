"""What must hold before brokers are started: a tree of their own, free directories and ports."""

import asyncio
import fcntl
import logging
from collections.abc import Iterator
from pathlib import Path

from moldau.config.values import config_error
from moldau.coordination.journal import TreeJournal
from moldau.net.listener import bind_host, listen
from moldau.supervisor.plan import LOOPBACK, ClusterWish, check_nothing_is_lost
from moldau.zookeeper.server import TREE_FILE

_log = logging.getLogger(__name__)

_LOCK = ".lock"
_PATIENCE_S = 20.0
"""Brokers whose supervisor is gone end within five seconds."""
_LOOK_AGAIN_S = 0.1


async def until_possible(wish: ClusterWish) -> None:
    """Return when the brokers can be started; StoreError or InvalidConfig if they cannot be."""
    path = wish.data / TREE_FILE
    if path.exists():
        await asyncio.to_thread(_check_tree, path, wish.count)
        await _until_orphans_have_ended(wish.data)
    _check_ports(wish)


def _check_tree(path: Path, count: int) -> None:
    """Refuse a tree that another one uses, or that needs more brokers."""
    with TreeJournal(str(path)) as journal:
        check_nothing_is_lost(journal.rows(), count)


async def _until_orphans_have_ended(data: Path) -> None:
    """Wait for brokers of an earlier supervisor: they end after it, however it has ended."""
    deadline_s = asyncio.get_running_loop().time() + _PATIENCE_S
    is_logged = False
    while orphans := list(_directories_in_use(data)):
        names = ", ".join(orphans)
        if asyncio.get_running_loop().time() >= deadline_s:
            raise config_error(f"{names} of {data} are still in use by another process")
        if not is_logged:
            _log.info("waiting for the brokers of an earlier start to end: %s", names)
            is_logged = True
        await asyncio.sleep(_LOOK_AGAIN_S)


def _directories_in_use(data: Path) -> Iterator[str]:
    for lock in sorted(data.glob(f"broker-*/{_LOCK}")):
        with lock.open("a") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield lock.parent.name


def _check_ports(wish: ClusterWish) -> None:
    """Say now that a port is taken; the brokers would say it one after the other."""
    shared = [] if wish.shared_port is None else [wish.shared_port]
    for host, port in (
        *((wish.host, each) for each in (*shared, *wish.ports)),
        (LOOPBACK, wish.tree_port),
    ):
        for listening in bind_host(host, port, listen):
            listening.close()
