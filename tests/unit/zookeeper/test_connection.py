"""A client's connection: bytes in whatever pieces, words, rubbish, and clients that do not read."""

import asyncio
from pathlib import Path

import pytest

from moldau.zookeeper import jute
from moldau.zookeeper.connection import FRAME_MAX, TreeConnection
from moldau.zookeeper.messages import Op, framed
from unit.zookeeper.serving import served

_CONNECT = framed(
    jute.integer(0) + jute.long(0) + jute.integer(4000) + jute.long(0) + jute.buffer(bytes(16))
)


async def test_a_message_may_come_byte_by_byte(tmp_path: Path) -> None:
    async with served(tmp_path / "tree") as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        ping = framed(jute.integer(-2) + jute.integer(Op.PING))
        for at in range(len(_CONNECT)):
            writer.write(_CONNECT[at : at + 1])
            await writer.drain()
        writer.write(ping + ping)
        await reader.readexactly(4 + 36)
        answers = await reader.readexactly(2 * 20)
        assert answers[4:8] == answers[24:28] == jute.integer(-2)
        writer.close()


async def test_a_word_is_answered_and_the_connection_ends(tmp_path: Path) -> None:
    async with served(tmp_path / "tree") as (_, port):
        for word, answer in ((b"ruok", b"imok"), (b"srvr", b"Mode: standalone")):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(word)
            assert answer in await reader.read()
            writer.close()


@pytest.mark.parametrize(
    "data",
    [
        jute.integer(FRAME_MAX + 1),
        jute.integer(-5),
        framed(b"rubbish"),
        _CONNECT + framed(jute.integer(1)),
        _CONNECT + framed(jute.integer(1) + jute.integer(Op.CREATE) + b"\0\0\0\x09/a"),
    ],
    ids=["too long", "a negative length", "no session", "no operation", "half a request"],
)
async def test_who_sends_rubbish_is_hung_up_on(tmp_path: Path, data: bytes) -> None:
    async with served(tmp_path / "tree") as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        try:
            rest = await asyncio.wait_for(reader.read(), 10)
        except ConnectionResetError:
            rest = b""
        assert len(rest) in (0, 40)
        writer.close()


class _Transport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.reading = ["yes"]

    def get_extra_info(self, name: str, default: object = None) -> object:
        return default

    def pause_reading(self) -> None:
        self.reading.append("no")

    def resume_reading(self) -> None:
        self.reading.append("yes")


async def test_a_client_that_does_not_read_is_not_read_either(tmp_path: Path) -> None:
    async with served(tmp_path / "tree") as (server, _):
        transport, connection = _Transport(), TreeConnection(server)
        connection.connection_made(transport)
        assert connection.host == "127.0.0.1"
        connection.pause_writing()
        assert transport.reading[-1] == "no"
        connection.resume_writing()
        assert transport.reading[-1] == "yes"
        for _ in range(1_000):
            connection.begin_request()
        assert transport.reading[-1] == "no"
        connection.end_request()
        assert transport.reading[-1] == "yes"
        connection.connection_lost(None)
        connection.send(b"to nobody")


class Wire(asyncio.Transport):
    """Notes what the system is asked to send."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.sent: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def close(self) -> None:
        self.sent.append(b"closed")

    def abort(self) -> None:
        self.sent.append(b"aborted")


async def test_answers_of_one_commit_leave_together_and_before_the_end(tmp_path: Path) -> None:
    async with served(tmp_path / "tree") as (server, _):
        for end, last in (("close", [b"cd", b"closed"]), ("abort", [b"aborted"])):
            connection, wire = TreeConnection(server), Wire()
            connection.connection_made(wire)
            connection.send(b"a")
            connection.send(b"b")
            assert wire.sent == []
            await asyncio.sleep(0)
            assert wire.sent == [b"ab"]
            connection.send(b"c")
            connection.send(b"d")
            getattr(connection, end)()
            await asyncio.sleep(0)
            assert wire.sent == [b"ab", *last]
            connection.connection_lost(None)
            connection.send(b"e")
            await asyncio.sleep(0)
            assert wire.sent == [b"ab", *last]
