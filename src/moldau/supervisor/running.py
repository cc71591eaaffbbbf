"""A cluster on one machine: the tree, the brokers, and one page of metrics."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass

from moldau.coordination.journal import StoreError
from moldau.net.listener import bind_host, listen
from moldau.runtime.clock import SystemClock
from moldau.supervisor.child import Child, shared_option, write_properties
from moldau.supervisor.plan import BROKERS_MAX, LOOPBACK, ClusterWish, check_wish, settings_of
from moldau.supervisor.preconditions import until_possible
from moldau.zookeeper.server import TREE_FILE, ServerOptions, TreeServer, serving_tree
from moldau.zookeeper.session_table import SessionBounds

_log = logging.getLogger(__name__)

_SESSION_MIN_MS = 1_000


@dataclass(slots=True)
class RunningBrokers:
    """The brokers of a cluster, and the tree that they agree on."""

    children: list[Child]
    tree: str
    """Where the tree is served, as `zookeeper.connect` has it."""

    async def up(self) -> None:
        """Return once all of them serve."""
        for child in self.children:
            await child.is_up.wait()

    def kill(self) -> None:
        """End all of them at once."""
        for child in self.children:
            child.kill()

    async def stop(self) -> None:
        """Stop one after the other, so that each can hand over to those that are left."""
        for child in reversed(self.children):
            await child.stop()


@asynccontextmanager
async def running_brokers(
    wish: ClusterWish, options: Sequence[str] = ()
) -> AsyncIterator[RunningBrokers]:
    """Run the brokers until the block ends, and stop them cleanly."""
    check_wish(wish)
    await until_possible(wish)
    wish.data.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        shared = [] if wish.shared_port is None else bind_host(wish.host, wish.shared_port, listen)
        for one in shared:
            stack.enter_context(one)
        async with _running(wish, options, [one.fileno() for one in shared]) as cluster:
            yield cluster


@asynccontextmanager
async def _running(
    wish: ClusterWish, options: Sequence[str], shared: Sequence[int]
) -> AsyncIterator[RunningBrokers]:
    path = wish.data / TREE_FILE
    listening = listen(LOOPBACK, wish.tree_port)
    given = [*options, *shared_option(wish.shared_port, shared)]
    bounds = SessionBounds(min_timeout_ms=_SESSION_MIN_MS)
    async with serving_tree(ServerOptions(str(path), bounds), [listening], SystemClock()) as server:
        for number in range(BROKERS_MAX):
            # Those of an earlier start have ended for sure: their directories are free.
            server.end_owner(_registration(number))
        tree = f"{LOOPBACK}:{listening.getsockname()[1]}"
        children = [_child(wish, number, tree, server, given) for number in range(wish.count)]
        for child in children:
            child.sockets = shared
        cluster = RunningBrokers(children, tree)
        async with asyncio.TaskGroup() as tasks:
            living = [tasks.create_task(child.run()) for child in children]
            watching = tasks.create_task(_end_with(server))
            try:
                yield cluster
            finally:
                await cluster.stop()
                watching.cancel()
                for each in living:
                    each.cancel()


def _child(
    wish: ClusterWish, number: int, tree: str, server: TreeServer, options: Sequence[str]
) -> Child:
    properties = wish.data / f"broker-{number}.properties"
    write_properties(properties, settings_of(wish, number, tree))

    def died(broker_id: int) -> None:
        # Nobody has to wait for its session to expire: its process is gone for sure.
        server.end_owner(_registration(broker_id))

    return Child(number, properties, options, died)


def _registration(broker_id: int) -> str:
    return f"/brokers/ids/{broker_id}"


async def _end_with(server: TreeServer) -> None:
    try:
        await asyncio.shield(server.failed)
    except Exception as error:
        raise StoreError(f"the tree cannot be written any more: {error}") from error
