"""Sessions over links: how they are kept, broken and lost."""

import asyncio

import pytest

from moldau.coordination.tree import (
    Change,
    ConnectionLost,
    Create,
    NoNode,
    SessionLost,
    SessionState,
    WatchEvent,
)
from moldau.testing.world.machine import Machine
from moldau.testing.world.tree import ENSEMBLE
from moldau.testing.world.world import World


def test_what_one_session_writes_another_reads_and_hears_of() -> None:
    with World(1) as world:

        async def main() -> None:
            one, other = (
                await world.ensemble.open(timeout_s=6),
                await world.ensemble.open(timeout_s=6),
            )
            heard: list[WatchEvent] = []
            assert await other.exists("/a", watch=heard.append) is None
            await one.create(Create("/a", b"data"))
            assert (await other.get("/a")).data == b"data"
            assert [event.path for event in heard] == ["/a"]
            with pytest.raises(NoNode):
                await other.get("/b")

        world.run(main())


def test_a_session_lives_through_a_short_break_and_watches_fire_after_it() -> None:
    with World(1) as world:

        async def main() -> None:
            tree = await world.ensemble.open(timeout_s=6)
            states: list[SessionState] = []
            heard: list[WatchEvent] = []
            tree.listen(states.append)
            await tree.exists("/a", watch=heard.append)
            world.network.link("", ENSEMBLE).cut()
            asked = asyncio.create_task(tree.get("/a"))
            await asyncio.sleep(5.5)
            assert states == [SessionState.SUSPENDED]
            with pytest.raises(ConnectionLost):
                await asked
            with pytest.raises(ConnectionLost):
                await tree.get("/a")
            world.network.link("", ENSEMBLE).mend()
            await asyncio.sleep(0.1)
            assert states == [SessionState.SUSPENDED, SessionState.CONNECTED]
            assert len(heard) == 1
            assert world.ensemble.is_alive(tree.session_id)

        world.run(main())


def test_a_watch_that_fired_into_a_broken_connection_is_not_lost() -> None:
    with World(1) as world:

        async def main() -> None:
            one = await world.ensemble.open(timeout_s=6)
            machine = world.machine("other")
            heard: list[WatchEvent] = []

            async def watch(_machine: Machine) -> None:
                tree = await world.ensemble.open(timeout_s=6)
                await tree.exists("/a", watch=heard.append)
                await asyncio.sleep(60)

            machine.start(watch)
            await asyncio.sleep(1)
            world.network.link(ENSEMBLE, "other").cut()
            await one.create(Create("/a"))
            await asyncio.sleep(5)
            world.network.link(ENSEMBLE, "other").mend()
            await asyncio.sleep(1)
            assert [event.change for event in heard] == [Change.UNKNOWN]

        world.run(main())


def test_silence_ends_a_session_and_its_ephemeral_nodes() -> None:
    with World(1) as world:

        async def main() -> None:
            tree = await world.ensemble.open(timeout_s=6)
            states: list[SessionState] = []
            tree.listen(states.append)
            await tree.create(Create("/a", is_ephemeral=True))
            await asyncio.sleep(60)
            assert world.ensemble.nodes.exists("/a") is not None
            for link in tuple(world.network.links()):
                link.cut()
            await asyncio.sleep(9)
            assert world.ensemble.nodes.exists("/a") is None
            assert SessionState.LOST not in states
            for link in tuple(world.network.links()):
                link.mend()
            await asyncio.sleep(3)
            assert states[-1] is SessionState.LOST
            with pytest.raises(SessionLost):
                await tree.get("/a")
            assert world.ensemble.session_of("") is None

        world.run(main())


def test_closing_ends_a_session_at_once() -> None:
    with World(1) as world:

        async def main() -> None:
            tree = await world.ensemble.open(timeout_s=6)
            await tree.create(Create("/a", is_ephemeral=True))
            assert world.ensemble.session_of("") is tree
            await tree.close()
            await tree.close()
            await asyncio.sleep(0.1)
            assert world.ensemble.nodes.exists("/a") is None

        world.run(main())
