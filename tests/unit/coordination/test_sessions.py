"""A tree over several sessions: what waits, what fails, what goes on."""

import asyncio

import pytest

from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.sessions import Sessions
from moldau.coordination.tree import ConnectionLost, Create, SessionState, Tree
from moldau.runtime.clock import SystemClock
from unit.waiting import settled


class Ensemble:
    """Sessions on demand; some attempts may fail."""

    def __init__(self) -> None:
        self.memory = MemoryEnsemble(SystemClock())
        self.opened: list[MemoryTree] = []
        self.failures = 0

    async def open(self) -> Tree:
        if self.failures:
            self.failures -= 1
            raise ConnectionLost("nobody there")
        self.opened.append(self.memory.connect())
        return self.opened[-1]


async def sessions(patience_s: float = 5.0) -> tuple[Ensemble, Sessions]:
    ensemble = Ensemble()
    made = Sessions(ensemble.open, patience_s=patience_s)
    await made.open()
    return ensemble, made


async def test_requests_go_to_the_session() -> None:
    ensemble, tree = await sessions()
    created = await tree.create(Create("/a", b"1"))
    assert created.path == "/a"
    assert (await tree.set("/a", b"2")).version == 1
    assert (await tree.get("/a")).data == b"2"
    assert await tree.exists("/b") is None
    await tree.multi([Create("/a/b")])
    assert await tree.children("/a") == ["b"]
    await tree.delete("/a/b")
    assert await tree.children("/a") == []
    assert tree.session_id == ensemble.opened[0].session_id
    states: list[SessionState] = []
    tree.listen(states.append)
    await tree.close()
    await asyncio.sleep(0)
    assert states == [SessionState.LOST]


async def test_a_first_session_that_cannot_be_had_is_an_error() -> None:
    ensemble = Ensemble()
    ensemble.failures = 1
    with pytest.raises(ConnectionLost, match="nobody there"):
        await Sessions(ensemble.open, patience_s=1).open()


async def test_reading_waits_for_the_connection() -> None:
    ensemble, tree = await sessions()
    ensemble.opened[0].suspend()
    await asyncio.sleep(0)
    reading = asyncio.create_task(tree.children("/"))
    await settled()
    assert not reading.done()
    ensemble.opened[0].resume()
    assert await reading == []


async def test_a_reading_that_the_connection_broke_under_is_repeated() -> None:
    ensemble, tree = await sessions()
    reading = asyncio.create_task(tree.children("/"))
    await asyncio.sleep(0)
    ensemble.opened[0].suspend()
    await settled()
    ensemble.opened[0].resume()
    assert await reading == []


async def test_reading_goes_on_in_the_next_session() -> None:
    ensemble, tree = await sessions()
    await tree.create(Create("/a"))
    ensemble.memory.expire(tree.session_id)
    reading = asyncio.create_task(tree.children("/"))
    ensemble.failures = 1
    await tree.renew()
    assert await reading == ["a"]
    assert tree.session is ensemble.opened[1]
    assert len(ensemble.opened) == 2


async def test_a_write_that_the_connection_broke_under_is_the_callers_to_look_at() -> None:
    ensemble, tree = await sessions()
    writing = asyncio.create_task(tree.create(Create("/a")))
    await asyncio.sleep(0)
    ensemble.opened[0].suspend()
    with pytest.raises(ConnectionLost):
        await writing
    ensemble.opened[0].resume()
    assert await tree.children("/") == ["a"]


async def test_patience_has_an_end() -> None:
    ensemble, tree = await sessions(patience_s=0.01)
    ensemble.opened[0].suspend()
    await asyncio.sleep(0)
    with pytest.raises(ConnectionLost, match=r"no connection within 0\.01 s"):
        await tree.create(Create("/a"))
    with pytest.raises(ConnectionLost):
        await tree.children("/")


async def test_a_session_that_fails_every_request_is_not_asked_forever() -> None:
    ensemble, tree = await sessions(patience_s=0.0)
    reading = asyncio.create_task(tree.children("/"))
    await asyncio.sleep(0)
    ensemble.opened[0].suspend()
    with pytest.raises(ConnectionLost):
        await reading


async def test_news_of_an_old_session_do_not_count() -> None:
    ensemble, tree = await sessions()
    ensemble.memory.expire(tree.session_id)
    await tree.renew()
    await asyncio.sleep(0)
    assert await tree.children("/") == []


async def test_a_session_that_is_kept_is_renewed_by_itself() -> None:
    ensemble, tree = await sessions()
    async with tree.kept():
        for _ in range(2):
            ensemble.opened[-1].suspend()
            reading = asyncio.create_task(tree.children("/"))
            await asyncio.sleep(0)
            ensemble.memory.expire(tree.session_id)
            assert await reading == []
    assert len(ensemble.opened) == 3


async def test_a_session_is_kept_no_longer_than_asked_for() -> None:
    ensemble, tree = await sessions()
    async with tree.kept():
        pass
    ensemble.memory.expire(tree.session_id)
    await settled()
    assert len(ensemble.opened) == 1


async def test_a_session_that_is_just_being_renewed_finds_its_owner() -> None:
    ensemble, tree = await sessions()
    async with tree.kept():
        ensemble.memory.expire(tree.session_id)
        ensemble.failures = 1  # so that it takes a while
        await settled()
        assert len(ensemble.opened) == 1
    assert tree.session is ensemble.opened[1]
