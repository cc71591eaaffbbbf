"""One connection: pipelining, deadlines, and answers that are not what they should be."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator

import pytest

from moldau.client.connection.addresses import Address
from moldau.client.connection.connection import BrokerConnection, Frame
from moldau.errors import KafkaError, NetworkException, RequestTimedOut
from moldau.protocol.codec import encode
from moldau.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from unit.client.scripted import Answer, scripted_broker
from unit.waiting import until

HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
VERSION = 0


def answered(frame: bytes, error_code: int = 0) -> bytes:
    """The answer to a request, with its correlation id."""
    return frame[4:8] + encode(HeartbeatResponse(error_code=error_code), VERSION)


async def connect(address: Address, **limits: int) -> BrokerConnection:
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(
        lambda: BrokerConnection("the broker", "tester", **limits), *address
    )
    return connection


async def ask(connection: BrokerConnection, timeout_s: float = 10.0) -> HeartbeatResponse:
    return await connection.ask(HEARTBEAT, HeartbeatResponse, VERSION, timeout_s=timeout_s)


@pytest.fixture
async def frames() -> list[bytes]:
    return []


@pytest.fixture
async def connection(frames: list[bytes]) -> AsyncIterator[BrokerConnection]:
    def answer(frame: bytes) -> bytes:
        frames.append(frame)
        return answered(frame, error_code=len(frames))

    async with scripted_broker(answer) as address:
        connection = await connect(address)
        yield connection
        connection.close()


async def test_requests_are_pipelined_and_answers_find_their_request(
    connection: BrokerConnection,
) -> None:
    answers = await asyncio.gather(*(ask(connection) for _ in range(10)))
    assert [each.error_code for each in answers] == list(range(1, 11))


async def test_a_request_says_whose_it_is(
    connection: BrokerConnection, frames: list[bytes]
) -> None:
    await ask(connection)
    assert b"tester" in frames[0]


async def test_no_more_requests_are_on_their_way_than_allowed() -> None:
    frames: list[bytes] = []

    def answer(frame: bytes) -> bytes:
        frames.append(frame)
        return b""

    async with scripted_broker(answer) as address:
        connection = await connect(address, in_flight_max=2)
        asking = (ask(connection, timeout_s=0.1) for _ in range(5))
        await asyncio.gather(*asking, return_exceptions=True)
    assert len(frames) == 2


async def test_a_late_answer_closes_the_connection() -> None:
    async with scripted_broker(lambda _: b"") as address:
        connection = await connect(address)
        with pytest.raises(RequestTimedOut, match="HeartbeatRequest to the broker had no answer"):
            await ask(connection, timeout_s=0.05)
        assert not connection.is_open
        with pytest.raises(NetworkException):
            await ask(connection)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda _: None, "the broker closed the connection"),
        (lambda frame: b"\x00\x00\x00\x63" + frame[8:], "answer 99 instead of 1"),
        (lambda frame: frame[4:8] + b"\x00", "with nonsense"),
        (lambda _: b"\x00", "response header"),
    ],
)
async def test_whoever_waits_is_told_what_is_wrong_with_the_broker(
    answer: Answer, reason: str
) -> None:
    async with scripted_broker(answer) as address:
        connection = await connect(address)
        with pytest.raises(NetworkException, match=reason):
            await ask(connection)
        assert not connection.is_open


async def test_an_answer_that_nobody_waits_for_closes_the_connection() -> None:
    async with scripted_broker(answered) as address:
        connection = await connect(address)
        connection.post(HEARTBEAT, VERSION, None, timeout_s=1)
        while connection.is_open:
            await asyncio.sleep(0)
        with pytest.raises(NetworkException, match="a response without a request"):
            await ask(connection)


async def test_a_request_without_an_answer_leaves_the_order_as_it_is() -> None:
    frames: list[bytes] = []

    def answer(frame: bytes) -> bytes:
        frames.append(frame)
        return b"" if len(frames) == 1 else answered(frame)

    async with scripted_broker(answer) as address:
        connection = await connect(address)
        connection.post(HEARTBEAT, VERSION, None, timeout_s=1)
        assert (await ask(connection)).error_code == 0
        connection.close()


async def test_a_cancelled_request_does_not_disturb_the_next(connection: BrokerConnection) -> None:
    waiting = asyncio.ensure_future(ask(connection))
    await asyncio.sleep(0)
    waiting.cancel()
    assert (await ask(connection)).error_code == 2


async def test_closing_fails_what_waits() -> None:
    async with scripted_broker(lambda _: b"") as address:
        connection = await connect(address)
        waiting = asyncio.ensure_future(ask(connection))
        await asyncio.sleep(0)
        connection.close()
        with pytest.raises(NetworkException, match="was closed"):
            await waiting


async def test_others_wait_while_somebody_is_alone(
    connection: BrokerConnection, frames: list[bytes]
) -> None:
    async with connection.alone():
        waiting = asyncio.create_task(ask(connection))
        told = asyncio.create_task(connection.wait_to_post(timeout_s=10))
        assert not connection.can_post
        await connection.exchange(HEARTBEAT, 0, timeout_s=10, is_alone=True)
        assert len(frames) == 1
    await waiting
    await told
    assert connection.can_post


async def posted(connection: BrokerConnection, timeout_s: float = 10.0) -> Frame | KafkaError:
    """What is told of a request that was posted."""
    told: asyncio.Future[Frame | KafkaError] = asyncio.get_running_loop().create_future()
    connection.post(HEARTBEAT, VERSION, told.set_result, timeout_s=timeout_s)
    return await told


async def test_a_posted_request_is_answered_in_its_turn(connection: BrokerConnection) -> None:
    first, second = asyncio.create_task(ask(connection)), posted(connection)
    assert (await first).error_code == 1
    frame = await second
    assert isinstance(frame, Frame)
    assert frame.decode(HeartbeatResponse, VERSION).error_code == 2


async def test_a_posted_request_without_an_answer_ends_the_connection() -> None:
    async with scripted_broker(lambda _: b"") as address:
        connection = await connect(address)
        first, second = posted(connection, 0.05), posted(connection, 0.05)
        late, lost = await asyncio.gather(first, second)
        assert isinstance(late, RequestTimedOut)
        assert "Heartbeat to the broker had no answer in 0.05 s" in str(late)
        assert isinstance(lost, NetworkException)
        assert not connection.is_open


async def test_the_timer_of_posted_requests_is_set_again_while_answers_come() -> None:
    frames: list[bytes] = []

    def answer(frame: bytes) -> bytes:
        frames.append(frame)
        return answered(frame) if len(frames) == 1 else b""

    async with scripted_broker(answer) as address:
        connection = await connect(address)
        assert isinstance(await posted(connection, 0.05), Frame)
        assert isinstance(await posted(connection, 0.1), RequestTimedOut)


async def test_a_connection_that_takes_nothing_is_closed() -> None:
    async with scripted_broker(lambda _: b"") as address:
        connection = await connect(address)
        connection.pause_writing()
        with pytest.raises(RequestTimedOut, match="took nothing in"):
            await connection.wait_to_post(timeout_s=0.05)
        with pytest.raises(NetworkException):
            await posted(connection)


async def test_the_socket_can_be_taken_over(connection: BrokerConnection) -> None:
    await ask(connection)
    with connection.take_socket() as taken:
        assert not connection.is_open
        taken.setblocking(True)
        size = (20).to_bytes(4, "big")
        await asyncio.to_thread(taken.sendall, size + bytes(4) + b"abcd" + bytes(12))
        assert (await asyncio.to_thread(taken.recv, 100))[4:8] == b"abcd"


async def test_a_lost_connection_keeps_no_part_of_an_answer() -> None:
    async def partly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(4)
        writer.write((50_000_000).to_bytes(4, "big") + bytes(8_000_000))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(partly, "127.0.0.1", 0)
    connection = await connect(Address(*server.sockets[0].getsockname()[:2]))
    tracemalloc.start()
    try:
        with pytest.raises(NetworkException):
            await ask(connection)
        assert tracemalloc.get_traced_memory()[0] < 2_000_000
    finally:
        tracemalloc.stop()
    connection.close()
    server.close()


async def test_cve_2026_35554_what_was_sent_is_not_what_a_buffer_became(
    connection: BrokerConnection, frames: list[bytes]
) -> None:
    """With Java's a batch that timed out while it was sent gave its buffer to another topic."""
    connection._transport.pause_reading()
    records = bytearray(b"of-one-topic" * 50_000)  # more than a socket takes at once
    data = [
        TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=records)])
    ]
    connection.post(ProduceRequest(acks=0, timeout_ms=1, topic_data=data), 7, None, timeout_s=1)
    records[:] = b"of-the-other" * 50_000
    await until(lambda: frames)
    assert b"of-one-topic" * 50_000 in frames[0]
