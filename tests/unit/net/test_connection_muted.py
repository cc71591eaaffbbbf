"""Muted connections: answered at once, then not read for a while, and closed by nobody for it."""

from contextlib import AbstractAsyncContextManager

import pytest

from moldau.net import connection as connection_module
from moldau.net import listener as listener_module
from moldau.net import sockets
from moldau.net.admission import ConnectionLimits
from moldau.net.answer import Part
from moldau.net.connection import Connection
from moldau.net.listener import Listener
from unit.net.test_connection import connect, framed, listening, read_frame
from unit.waiting import LoopTime, settled, until


@pytest.fixture(autouse=True, params=["source", "compiled", "transport"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "source":
        monkeypatch.setattr(listener_module, "_connections", connection_module)
        monkeypatch.setattr(listener_module, "_sockets", sockets)
    elif request.param == "transport":
        monkeypatch.setattr(sockets, "IS_AVAILABLE", False)
        monkeypatch.setattr(listener_module, "_sockets", sockets)


class Muting:
    """Answers with what it was asked; a number mutes for so many milliseconds."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self.connections: list[Connection] = []

    def respond(self, connection: Connection, frame: memoryview) -> list[Part] | None:
        body = bytes(frame)
        self.seen.append(body)
        self.connections.append(connection)
        if body.isdigit():
            connection.mute(int(body))
        return [framed(body)]

    def listening(
        self,
        limits: ConnectionLimits = ConnectionLimits(),  # noqa: B008 - frozen
    ) -> AbstractAsyncContextManager[Listener]:
        return listening(self.respond, connection_limits=limits)


async def test_the_answer_comes_at_once_and_the_next_request_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time = LoopTime(monkeypatch)
    muting = Muting()
    async with muting.listening() as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"1000000") + framed(b"pipelined"))
        assert await read_frame(reader) == b"1000000"
        writer.write(framed(b"later"))
        await writer.drain()
        await settled()
        assert muting.seen == [b"1000000"]
        time.jump(900)  # the loop's own time goes on meanwhile, on a busy machine for seconds
        await settled()
        assert muting.seen == [b"1000000"]
        time.jump(101)
        assert await read_frame(reader) == b"pipelined"
        assert await read_frame(reader) == b"later"
        writer.close()


async def test_nothing_is_read_meanwhile() -> None:
    muting = Muting()
    async with muting.listening() as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"100000"))
        await read_frame(reader)
        writer.write(framed(b"x" * 20_000_000))
        await settled()
        (connection,) = muting.connections
        assert not connection.is_read_paused, "the sweep takes it for one that sends too much"
        assert writer.transport.get_write_buffer_size() > 0
        writer.transport.abort()


async def test_the_longest_of_several_waits_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    time = LoopTime(monkeypatch)
    muting = Muting()
    async with muting.listening() as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"1000000"))
        await read_frame(reader)
        (connection,) = muting.connections
        connection.mute(3_000_000)
        connection.mute(10)
        writer.write(framed(b"next"))
        time.jump(2900)
        await settled()
        assert muting.seen == [b"1000000"]
        time.jump(101)
        assert await read_frame(reader) == b"next"
        writer.close()


async def test_no_deadline_runs_while_it_is_muted(monkeypatch: pytest.MonkeyPatch) -> None:
    time = LoopTime(monkeypatch)
    muting = Muting()
    async with muting.listening(ConnectionLimits(idle_s=5, frame_s=5)) as listener:
        reader, writer = await connect(listener)
        # A part of the next request is there, too.
        writer.write(framed(b"30000") + framed(b"next")[:5])
        await read_frame(reader)
        for _ in range(25):
            time.jump(1)
            await settled()
        assert listener.connection_count == 1
        time.jump(6)
        await settled()
        writer.write(framed(b"next")[5:])
        assert await read_frame(reader) == b"next"
        # From now on it is idle, as any other.
        await time.until(lambda: listener.connection_count == 0)
        writer.close()


async def test_a_client_that_has_gone_is_not_kept_for_all_that_time(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if "transport" in request.node.name:
        pytest.skip("asyncio notices it when it reads again")
    time = LoopTime(monkeypatch)
    muting = Muting()
    async with muting.listening(ConnectionLimits(frame_s=5)) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"100000000"))
        await read_frame(reader)
        writer.close()
        await writer.wait_closed()
        await time.until(lambda: listener.connection_count == 0)


async def test_it_can_be_hung_up_on() -> None:
    """As when its session expires, or the broker stops."""
    muting = Muting()
    async with muting.listening() as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"100000000"))
        await read_frame(reader)
        muting.connections[0].abort()
        assert await reader.read() == b""
        await until(lambda: listener.connection_count == 0)
        writer.close()
