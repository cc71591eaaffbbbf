"""Sockets on a poller: nothing lost, order kept, bounds told, no event for who wants none."""

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from moldau.net import sockets
from moldau.runtime import native
from moldau.runtime.disk import PosixDisk
from moldau.runtime.file_range import FileRange
from unit.waiting import settled, until

pytestmark = pytest.mark.skipif(not sockets.IS_AVAILABLE, reason="this system has no epoll")

COMPILED = native.kernel("moldau.net._sockets", "moldau.net.sockets")
LARGE = bytes(range(256)) * 20_000


@dataclass(eq=False)
class Listening:
    """A reader that keeps what it hears."""

    heard: bytearray = field(default_factory=bytearray)
    told: list[str] = field(default_factory=list)
    buffer: bytearray = field(default_factory=lambda: bytearray(1_000))
    transport: Any = None
    has_heard_hang_up: bool = False

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.told.append(f"lost: {type(exc).__name__}" if exc else "lost")

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self.buffer)

    def buffer_updated(self, nbytes: int) -> None:
        self.heard += self.buffer[:nbytes]

    def pause_writing(self) -> None:
        self.told.append("full")

    def resume_writing(self) -> None:
        self.told.append("room")

    def hung_up(self) -> None:
        assert not self.has_heard_hang_up
        self.has_heard_hang_up = True


@dataclass
class Line:
    """A reader's transport and the other end of its socket."""

    reader: Listening
    transport: Any
    peer: socket.socket

    async def receive(self, size: int) -> bytes:
        received = b""
        loop = asyncio.get_running_loop()
        while len(received) < size:
            data = await loop.sock_recv(self.peer, size - len(received))
            if not data:
                break
            received += data
        return received


@pytest.fixture(params=[sockets, COMPILED], ids=["source", "compiled"])
async def line(request: pytest.FixtureRequest) -> AsyncIterator[Line]:
    module: ModuleType = request.param
    listening = socket.create_server(("127.0.0.1", 0))
    peer = socket.create_connection(listening.getsockname())
    connected, _ = listening.accept()
    for end in (peer, connected):
        end.setblocking(False)
    poller = module.Poller()
    reader = Listening()
    transport = module.SocketTransport(poller, connected, reader)
    yield Line(reader, transport, peer)
    transport.abort()
    await asyncio.sleep(0)
    poller.close()
    peer.close()
    listening.close()


async def test_what_arrives_is_given_to_the_reader(line: Line) -> None:
    line.peer.sendall(b"hello")
    await until(lambda: line.reader.heard == b"hello")


async def test_what_the_peer_does_not_take_yet_waits_and_comes_in_order(line: Line) -> None:
    line.transport.set_write_buffer_limits(high=1_000)
    line.transport.write(LARGE)
    line.transport.write(b"and more")
    assert line.reader.told == ["full"]
    assert await line.receive(len(LARGE) + 8) == LARGE + b"and more"
    await until(lambda: line.reader.told == ["full", "room"])


async def test_what_fills_the_buffer_is_read_on_in_the_same_event(line: Line) -> None:
    line.peer.send(LARGE[:10_500])
    turns = 0
    while not line.reader.heard:
        await asyncio.sleep(0)
        turns += 1
        assert turns < 1_000
    assert line.reader.heard == LARGE[:10_500]


async def test_others_have_their_turn_while_one_has_very_much_to_say(line: Line) -> None:
    whole = 4 * sockets.READ_MAX_BYTES
    others: list[int] = []

    def go_on(nbytes: int) -> None:
        if not line.reader.heard:
            asyncio.get_running_loop().call_soon(lambda: others.append(len(line.reader.heard)))
        line.reader.heard += line.reader.buffer
        if len(line.reader.heard) < whole:
            line.peer.send(line.reader.buffer)

    line.reader.buffer_updated = go_on  # type: ignore[method-assign]
    line.peer.send(line.reader.buffer)
    await until(lambda: len(line.reader.heard) >= whole)
    (heard,) = others
    assert sockets.READ_MAX_BYTES <= heard < 2 * sockets.READ_MAX_BYTES


async def test_who_pauses_is_not_read_on(line: Line) -> None:
    def pause(nbytes: int) -> None:
        line.reader.told.append("read")
        line.transport.pause_reading()

    line.reader.buffer_updated = pause  # type: ignore[method-assign]
    line.peer.send(LARGE[:5_000])
    await until(lambda: line.reader.told)
    await settled()
    assert line.reader.told == ["read"]


async def test_a_file_comes_after_what_was_written_before_it(line: Line, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(LARGE)
    file = PosixDisk().open_read(str(path))
    line.transport.write(LARGE)
    line.transport.write_before_file(b"head")
    sending = asyncio.create_task(line.transport.send_file(FileRange(file, 7, 1_000_000)))
    received = await line.receive(len(LARGE) + 4 + 1_000_000)
    assert received == LARGE + b"head" + LARGE[7:1_000_007]
    assert await sending == 1_000_000
    line.transport.write(b"tail")
    assert await line.receive(4) == b"tail"


async def test_a_file_that_ends_early_says_how_much_there_was(line: Line, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"short")
    file = PosixDisk().open_read(str(path))
    assert await line.transport.send_file(FileRange(file, 1, 100)) == 4


async def test_a_file_whose_receiver_leaves_is_given_up(line: Line, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(LARGE)
    file = PosixDisk().open_read(str(path))
    sending = asyncio.create_task(line.transport.send_file(FileRange(file, 0, len(LARGE))))
    await asyncio.sleep(0)
    line.peer.close()
    with pytest.raises(ConnectionError):
        await sending


async def test_who_does_not_read_hears_of_nothing_and_costs_nothing(line: Line) -> None:
    line.transport.pause_reading()
    line.peer.sendall(b"later")
    line.peer.close()
    await settled()
    assert line.reader.heard == b""
    assert line.reader.told == []
    line.transport.resume_reading()
    await until(lambda: line.reader.told == ["lost"])
    assert line.reader.heard == b"later"


async def test_who_does_not_read_hears_once_that_the_peer_has_gone(line: Line) -> None:
    line.transport.pause_reading()
    line.peer.sendall(b"unread")
    line.peer.shutdown(socket.SHUT_WR)
    await until(lambda: line.reader.has_heard_hang_up)
    line.transport.write(b"an answer")
    assert await line.receive(9) == b"an answer"
    assert line.reader.told == []


async def test_who_does_not_read_loses_a_connection_that_is_reset(line: Line) -> None:
    line.transport.pause_reading()
    line.peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    line.peer.close()
    await until(lambda: line.reader.told == ["lost"])


async def test_closing_sends_what_was_written_and_aborting_does_not(line: Line) -> None:
    line.transport.write(LARGE)
    line.transport.close()
    line.transport.write(b"too late")
    assert await line.receive(len(LARGE) + 1) == LARGE
    await until(lambda: line.reader.told[-1] == "lost")
    line.transport.abort()
    await asyncio.sleep(0)
    assert line.reader.told.count("lost") == 1


async def test_a_reader_that_fails_loses_its_connection(
    line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    line.reader.buffer_updated = None  # type: ignore[method-assign, assignment]
    line.peer.sendall(b"hello")
    await until(lambda: line.reader.told == ["lost: TypeError"])
    assert "a connection failed" in caplog.text


async def test_a_connection_reset_is_told_as_such(line: Line) -> None:
    line.peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    line.peer.close()
    await until(lambda: line.reader.told == ["lost: ConnectionResetError"])


async def test_addresses_are_those_of_the_socket(line: Line) -> None:
    assert line.transport.get_extra_info("peername") == line.peer.getsockname()
    assert line.transport.get_extra_info("sockname") == line.peer.getpeername()
    assert line.transport.get_extra_info("cipher") is None
