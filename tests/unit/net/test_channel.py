"""Channels: requests to a broker that answers, hangs up, says nothing or talks nonsense."""

import asyncio
import sys
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from moldau.net.channel import Channel, ChannelLimits, _Connection
from moldau.protocol.codec import decode, encode
from moldau.protocol.headers import decode_request_header, encode_response_header
from moldau.protocol.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)
from moldau.runtime import eager
from unit.waiting import LoopTime

VERSION = 3
IMPATIENT = ChannelLimits(timeout_s=0.1, backoff_s=0.001, backoff_max_s=0.01)
REQUEST = ControlledShutdownRequest(broker_id=1, broker_epoch=2)

NOTHING_MORE = b"it has been written"

Answer = Callable[[bytes], Awaitable[bytes]]


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


async def correctly(frame: bytes) -> bytes:
    header, _ = decode_request_header(frame)
    response = ControlledShutdownResponse(error_code=0, remaining_partitions=[])
    return framed(
        encode_response_header(header.correlation_id, header.api_key, VERSION)
        + encode(response, VERSION)
    )


class Peer:
    """A broker that answers every frame with what `answer` makes of it."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.connections = 0
        self.frames: list[bytes] = []
        self.port = 0
        self.writers: list[asyncio.StreamWriter] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                frame = await reader.readexactly(size)
                self.frames.append(frame)
                answer = await self.answer(frame)
                if not answer:
                    break
                if answer is not NOTHING_MORE:
                    writer.write(answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def hang_up(self) -> None:
        for writer in self.writers:
            writer.close()


@asynccontextmanager
async def peer_that(answer: Answer) -> AsyncIterator[Peer]:
    peer = Peer(answer)
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0)
    peer.port = server.sockets[0].getsockname()[1]
    try:
        yield peer
    finally:
        peer.hang_up()
        server.close()


def channel_to(peer: Peer, limits: ChannelLimits = IMPATIENT) -> Channel:
    return Channel("127.0.0.1", peer.port, "broker-1", limits=limits)


async def test_an_answer_comes_back_as_a_message() -> None:
    async with peer_that(correctly) as peer:
        channel = channel_to(peer, ChannelLimits())
        answer = await channel.call(REQUEST, VERSION)
        assert answer == ControlledShutdownResponse(error_code=0, remaining_partitions=[])
        header, _ = decode_request_header(peer.frames[0])
        assert (header.api_key, header.api_version, header.client_id) == (7, 3, "broker-1")
        channel.close()


async def test_calls_share_a_connection_and_take_turns() -> None:
    async with peer_that(correctly) as peer:
        channel = channel_to(peer, ChannelLimits())
        await asyncio.gather(*(channel.call(REQUEST, VERSION) for _ in range(5)))
        numbers = [decode_request_header(frame)[0].correlation_id for frame in peer.frames]
        assert (peer.connections, numbers) == (1, [1, 2, 3, 4, 5])
        channel.close()


async def test_an_eager_request_may_call() -> None:
    async with peer_that(correctly) as peer:
        channel = channel_to(peer, ChannelLimits())
        started = eager.start(channel.call(REQUEST, VERSION))
        assert isinstance(started, eager.Waiting)
        assert isinstance(await started.rest, ControlledShutdownResponse)
        channel.close()


async def test_a_lost_connection_fails_the_call_and_the_next_one_connects_again() -> None:
    async def nothing(_frame: bytes) -> bytes:
        return b""

    async with peer_that(nothing) as peer:
        channel = channel_to(peer)
        with pytest.raises(ConnectionError, match="closed the connection"):
            await channel.call(REQUEST, VERSION)
        peer.answer = correctly
        assert isinstance(await channel.call(REQUEST, VERSION), ControlledShutdownResponse)
        assert peer.connections == 2
        channel.close()


async def test_an_idle_connection_that_the_broker_closed_is_made_anew() -> None:
    async with peer_that(correctly) as peer:
        channel = channel_to(peer)
        await channel.call(REQUEST, VERSION)
        peer.hang_up()
        while peer.connections < 2:
            # The first of them may still meet the old connection as it closes.
            try:
                await channel.call(REQUEST, VERSION)
            except ConnectionError:
                continue
        channel.close()


async def test_silence_ends_in_a_timeout() -> None:
    async def silence(_frame: bytes) -> bytes:
        await asyncio.Event().wait()
        return b""

    async with peer_that(silence) as peer:
        channel = channel_to(peer)
        with pytest.raises(TimeoutError, match=r"did not answer within 0\.1 s"):
            await channel.call(REQUEST, VERSION)


async def test_a_port_that_nobody_listens_on_is_an_error_after_ever_longer_waits() -> None:
    async with peer_that(correctly) as peer:
        port = peer.port
    channel = Channel("127.0.0.1", port, "broker-1", limits=IMPATIENT)
    for _ in range(6):
        with pytest.raises(OSError, match="Connect"):
            await channel.call(REQUEST, VERSION)
    assert channel._delay_s() == IMPATIENT.backoff_max_s


async def test_an_answer_to_another_question_is_refused() -> None:
    async def wrongly(_frame: bytes) -> bytes:
        return framed(b"\0\0\0\x63\0")

    async with peer_that(wrongly) as peer:
        channel = channel_to(peer)
        with pytest.raises(ConnectionError, match="answer 99 to request 1"):
            await channel.call(REQUEST, VERSION)


async def test_a_frame_of_negative_size_is_refused() -> None:
    async def backwards(_frame: bytes) -> bytes:
        return b"\xff\xff\xff\xff"

    async with peer_that(backwards) as peer:
        channel = channel_to(peer)
        with pytest.raises(ConnectionError, match="does not speak the protocol"):
            await channel.call(REQUEST, VERSION)


async def test_a_frame_that_nobody_has_asked_for_ends_the_connection() -> None:
    async def twice(frame: bytes) -> bytes:
        return await correctly(frame) * 2

    async with peer_that(twice) as peer:
        channel = channel_to(peer)
        await channel.call(REQUEST, VERSION)
        peer.answer = correctly
        while peer.connections < 2:
            try:
                await channel.call(REQUEST, VERSION)
            except ConnectionError:
                continue
        channel.close()


async def test_a_cancelled_call_leaves_no_answer_to_the_next_one() -> None:
    is_asked = asyncio.Event()

    async def late(frame: bytes) -> bytes:
        is_asked.set()
        await asyncio.Event().wait()
        return await correctly(frame)

    async with peer_that(late) as peer, asyncio.TaskGroup() as tasks:
        channel = channel_to(peer, ChannelLimits())
        call = tasks.create_task(channel.call(REQUEST, VERSION))
        await is_asked.wait()
        call.cancel()
        peer.answer = correctly
        assert isinstance(await channel.call(REQUEST, VERSION), ControlledShutdownResponse)
        assert peer.connections == 2
        channel.close()


async def test_closing_fails_whoever_waits_and_whoever_comes() -> None:
    async def close(_frame: bytes) -> bytes:
        channel.close()
        return b""

    async with peer_that(close) as peer:
        channel = channel_to(peer, ChannelLimits())
        with pytest.raises(ConnectionError, match="was closed"):
            await channel.call(REQUEST, VERSION)
        with pytest.raises(ConnectionError, match="was closed"):
            await channel.call(REQUEST, VERSION)


async def test_more_calls_than_allowed_are_refused() -> None:
    async with peer_that(correctly) as peer:
        channel = channel_to(peer, ChannelLimits(calls_max=1))
        answers = await asyncio.gather(
            *(channel.call(REQUEST, VERSION) for _ in range(2)), return_exceptions=True
        )
        assert isinstance(answers[0], ControlledShutdownResponse)
        assert isinstance(answers[1], ConnectionError)
        channel.close()


async def test_a_reply_follows_an_answer_on_the_same_connection() -> None:
    async with peer_that(correctly) as peer:
        channel, body = channel_to(peer, ChannelLimits()), encode(REQUEST, VERSION)
        replies = iter([body, body, None])

        def reply(frame: memoryview, position: int) -> bytes | None:
            assert decode(ControlledShutdownResponse, VERSION, frame, position)[1] == len(frame)
            return next(replies)

        answer = await channel.call(REQUEST, VERSION, reply)
        assert isinstance(answer, ControlledShutdownResponse)
        numbers = [decode_request_header(frame)[0].correlation_id for frame in peer.frames]
        assert (peer.connections, numbers) == (1, [1, 2, 3])
        assert peer.frames[0][8:] == peer.frames[1][8:] == peer.frames[2][8:]
        channel.close()


async def test_an_answer_that_was_dealt_with_is_not_returned() -> None:
    async with peer_that(correctly) as peer:
        channel = channel_to(peer, ChannelLimits())
        assert await channel.call(REQUEST, VERSION, lambda _frame, _position: b"") is None
        assert isinstance(await channel.call(REQUEST, VERSION), ControlledShutdownResponse)
        assert peer.connections == 1
        channel.close()


async def test_what_a_reply_raises_is_raised_where_the_answer_is_waited_for() -> None:
    def reply(_frame: memoryview, _position: int) -> bytes | None:
        raise AssertionError("a mistake")

    async with peer_that(correctly) as peer:
        channel = channel_to(peer, ChannelLimits())
        with pytest.raises(AssertionError, match="a mistake"):
            await channel.call(REQUEST, VERSION, reply)
        channel.close()


async def test_a_reply_may_hang_up() -> None:
    def reply(_frame: memoryview, _position: int) -> bytes | None:
        channel.close()
        return encode(REQUEST, VERSION)

    async with peer_that(correctly) as peer:
        channel = channel_to(peer, ChannelLimits())
        with pytest.raises(ConnectionError, match="was closed"):
            await channel.call(REQUEST, VERSION, reply)
        assert len(peer.frames) == 1


async def test_every_request_of_a_talk_has_the_whole_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time = LoopTime(monkeypatch)

    async def slowly(frame: bytes) -> bytes:
        if len(peer.frames) == 6:
            time.jump(100)
            await asyncio.Event().wait()
        time.jump(40)
        return await correctly(frame)

    async with peer_that(slowly) as peer:
        channel = channel_to(peer, ChannelLimits(timeout_s=100))
        with pytest.raises(TimeoutError, match="did not answer within 100 s"):
            await channel.call(REQUEST, VERSION, lambda _frame, _position: encode(REQUEST, VERSION))
        assert len(peer.frames) == 6


async def in_pieces(frame: bytes, size: int, writer: asyncio.StreamWriter) -> None:
    """An answer of several megabytes, up to a size, that comes little by little."""
    header, _ = decode_request_header(frame)
    many = [RemainingPartition(topic_name="t" * 20_000, partition_index=0)] * 200
    answer = framed(
        encode_response_header(header.correlation_id, header.api_key, VERSION)
        + encode(ControlledShutdownResponse(error_code=0, remaining_partitions=many), VERSION)
    )
    for start in range(0, min(size, len(answer)), 16_384):
        writer.write(answer[start : min(start + 16_384, size)])
        await asyncio.sleep(0)


@pytest.mark.skipif(sys.platform != "linux", reason="others wake for every piece")
async def test_a_large_answer_does_not_wake_for_every_piece(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def largely(frame: bytes) -> bytes:
        await in_pieces(frame, 2**30, peer.writers[0])
        return NOTHING_MORE

    pieces = []
    take = _Connection.buffer_updated

    def counting(self: _Connection, nbytes: int) -> None:
        pieces.append(nbytes)
        take(self, nbytes)

    monkeypatch.setattr(_Connection, "buffer_updated", counting)
    async with peer_that(largely) as peer:
        channel = channel_to(peer, ChannelLimits(timeout_s=10))
        answer = await channel.call(REQUEST, VERSION)
        assert isinstance(answer, ControlledShutdownResponse)
        assert len(answer.remaining_partitions) == 200
        assert len(pieces) < 100, "of 245 that were written"
        channel.close()


async def test_a_large_answer_that_ends_too_early_is_a_lost_connection() -> None:
    async def partly(frame: bytes) -> bytes:
        await in_pieces(frame, 3_000_000, peer.writers[0])
        return b""

    async with peer_that(partly) as peer:
        channel = channel_to(peer, ChannelLimits(timeout_s=10))
        with pytest.raises(ConnectionError, match="closed the connection"):
            await channel.call(REQUEST, VERSION)
        channel.close()


async def test_a_small_answer_after_a_large_one_comes_at_once() -> None:
    async def first_largely(frame: bytes) -> bytes:
        if len(peer.frames) == 1:
            await in_pieces(frame, 2**30, peer.writers[0])
            return NOTHING_MORE
        return await correctly(frame)

    async with peer_that(first_largely) as peer:
        channel = channel_to(peer, ChannelLimits(timeout_s=10))
        await channel.call(REQUEST, VERSION)
        answer = await asyncio.wait_for(channel.call(REQUEST, VERSION), 5)
        assert answer == ControlledShutdownResponse(error_code=0, remaining_partitions=[])
        channel.close()


async def test_a_lost_connection_keeps_no_part_of_an_answer() -> None:
    async def partly(_frame: bytes) -> bytes:
        for writer in peer.writers:
            writer.write((50_000_000).to_bytes(4, "big") + bytes(8_000_000))
            await writer.drain()
        return b""

    async with peer_that(partly) as peer:
        channel = channel_to(peer, ChannelLimits())
        tracemalloc.start()
        try:
            with pytest.raises(ConnectionError, match="closed the connection"):
                await channel.call(REQUEST, VERSION)
            assert tracemalloc.get_traced_memory()[0] < 2_000_000
        finally:
            tracemalloc.stop()
        channel.close()
