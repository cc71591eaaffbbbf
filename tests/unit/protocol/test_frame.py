"""Frames out of a stream that is cut anywhere."""

import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.protocol.frame import CHUNK_BYTES, GROWTH, FrameReader

LIMIT = 100 * 2**20


def framed(*payloads: bytes) -> bytes:
    return b"".join(struct.pack(">i", len(payload)) + payload for payload in payloads)


def drain(reader: FrameReader) -> list[bytes]:
    frames = []
    while (frame := reader.next_frame()) is not None:
        frames.append(bytes(frame))
    return frames


@settings(deadline=None)
@given(
    payloads=st.lists(st.binary(max_size=40) | st.just(b"x" * 3000), max_size=8),
    cuts=st.lists(st.integers(1, 500), min_size=1, max_size=20),
)
def test_frames_do_not_depend_on_where_the_stream_is_cut(
    payloads: list[bytes], cuts: list[int]
) -> None:
    reader, stream, frames, turn = FrameReader(LIMIT), framed(*payloads), [], 0
    while stream:
        cut = cuts[turn % len(cuts)]
        reader.feed(stream[:cut])
        frames += drain(reader)
        stream, turn = stream[cut:], turn + 1
    assert frames == payloads
    assert reader.waiting_bytes == 0


def test_frames_larger_than_a_chunk_arrive_whole() -> None:
    payloads = [bytes([number]) * (CHUNK_BYTES * number + 7) for number in (1, 3, 0, 9)]
    reader = FrameReader(LIMIT)
    reader.feed(framed(*payloads))
    assert drain(reader) == payloads


def test_a_frame_stays_as_it_was_while_more_arrives() -> None:
    reader = FrameReader(LIMIT)
    reader.feed(framed(b"first"))
    first = reader.next_frame()
    reader.feed(framed(b"x" * 3 * CHUNK_BYTES))
    drain(reader)
    assert bytes(first or b"") == b"first"


def test_a_frame_can_be_written_to_for_stamping_offsets() -> None:
    reader = FrameReader(LIMIT)
    reader.feed(framed(b"batch"))
    frame = reader.next_frame()
    assert frame is not None
    frame[0] = ord("B")
    assert bytes(frame) == b"Batch"


@pytest.mark.parametrize("size", [-1, -(2**31), 2**31 - 1, 1001])
def test_impossible_sizes_are_refused(size: int) -> None:
    reader = FrameReader(1000)
    reader.feed(struct.pack(">i", size))
    with pytest.raises(ProtocolError, match="the limit is 1000"):
        reader.next_frame()


def test_an_impossible_size_is_refused_even_when_the_buffer_is_full() -> None:
    reader = FrameReader(CHUNK_BYTES)
    reader.feed(framed(bytes(CHUNK_BYTES - 8)))
    drain(reader)
    reader.feed(struct.pack(">i", -1))
    with pytest.raises(ProtocolError):
        reader.writable()


def test_the_limit_itself_is_allowed_and_zero_is_a_frame() -> None:
    reader = FrameReader(1000)
    reader.feed(framed(b"x" * 1000, b""))
    assert drain(reader) == [b"x" * 1000, b""]


def test_the_limit_can_change_between_frames() -> None:
    reader = FrameReader(10)
    reader.feed(framed(b"token"))
    assert drain(reader) == [b"token"]
    reader.limit_bytes = 1000
    reader.feed(framed(b"x" * 1000))
    assert drain(reader) == [b"x" * 1000]


def test_memory_follows_what_has_arrived_and_not_what_was_declared() -> None:
    tracemalloc.start()
    try:
        reader = FrameReader(LIMIT)
        reader.feed(struct.pack(">i", LIMIT))
        for received_bytes in (CHUNK_BYTES, 4 * CHUNK_BYTES, 16 * CHUNK_BYTES):
            reader.feed(bytes(received_bytes - reader.waiting_bytes))
            reader.writable()
            held, _ = tracemalloc.get_traced_memory()
            assert held < (GROWTH + 1) * received_bytes + CHUNK_BYTES
    finally:
        tracemalloc.stop()


def test_a_transport_receives_straight_into_the_buffer() -> None:
    reader = FrameReader(LIMIT)
    stream = framed(b"hello", b"world")
    room = reader.writable()
    room[: len(stream)] = stream
    reader.received(len(stream))
    assert drain(reader) == [b"hello", b"world"]


def address(frame: memoryview) -> int:
    assert isinstance(frame.obj, bytearray)
    return id(frame.obj)


def receive(reader: FrameReader, payload: bytes) -> memoryview:
    """Receive a frame piece by piece, as a transport does."""
    rest = framed(payload)
    while rest:
        room = reader.writable()
        count = min(len(room), len(rest), 50_000)
        room[:count] = rest[:count]
        room.release()
        reader.received(count)
        rest = rest[count:]
    frame = reader.next_frame()
    assert frame is not None
    assert frame == payload
    return frame


def test_large_frames_that_nobody_holds_share_one_buffer() -> None:
    reader = FrameReader(LIMIT)
    used = {address(receive(reader, bytes([number]) * 2**20)) for number in range(10)}
    assert len(used) <= 2


def test_a_buffer_that_somebody_holds_is_not_used_again() -> None:
    reader = FrameReader(LIMIT)
    held = [receive(reader, bytes([number]) * 2**20) for number in range(4)]
    assert [bytes(frame[:1]) for frame in held] == [b"\0", b"\1", b"\2", b"\3"]
    assert len({address(frame) for frame in held}) == 4


def test_a_large_buffer_goes_when_frames_are_small_again() -> None:
    reader = FrameReader(LIMIT)
    receive(reader, bytes(10 * 2**20))
    for _ in range(30):
        receive(reader, bytes(CHUNK_BYTES // 2))
    assert len(reader.writable()) <= GROWTH * CHUNK_BYTES


def test_a_peer_that_is_believed_gets_the_memory_that_it_announces_sooner() -> None:
    frame = bytes(3 << 20)
    announced = len(frame).to_bytes(4, "big")
    sizes = []
    for growth in (GROWTH, 1024):
        reader = FrameReader(2**31 - 1, growth=growth)
        reader.feed(announced + frame[: CHUNK_BYTES - 4])
        sizes.append(CHUNK_BYTES + len(reader.writable()))
        reader.feed(frame[CHUNK_BYTES - 4 :])
        assert bytes(reader.next_frame() or b"") == frame
    assert sizes == [GROWTH * CHUNK_BYTES, 4 + len(frame)]


def test_what_is_missing_of_a_frame_is_known_with_its_size() -> None:
    reader = FrameReader(1_000)
    assert reader.missing_bytes == 0
    reader.feed(b"\0\0")
    assert reader.missing_bytes == 0, "nobody knows"
    reader.feed(b"\0\x0aabc")
    assert reader.missing_bytes == 7
    reader.feed(b"defghij")
    assert reader.missing_bytes == 0
    assert bytes(reader.next_frame() or b"") == b"abcdefghij"


def test_what_has_arrived_can_be_forgotten_and_frames_that_are_out_stay() -> None:
    reader = FrameReader(100)
    reader.feed(b"\0\0\0\1a\0\0\0\2b")
    frame = reader.next_frame()
    reader.forget()
    assert (reader.waiting_bytes, reader.next_frame()) == (0, None)
    assert bytes(frame or b"") == b"a"
    reader.feed(b"\0\0\0\1c")
    assert bytes(reader.next_frame() or b"") == b"c"


def test_what_a_frame_begins_with_is_known_before_it_is_complete() -> None:
    reader = FrameReader(1_000)
    assert not reader.begins_with(0)
    reader.feed(b"\x15\x03\x03")
    assert reader.begins_with(0x1503)
    assert not reader.begins_with(0x1603)
