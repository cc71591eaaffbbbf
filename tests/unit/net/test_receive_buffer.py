"""The buffer of one connection, as it stands and compiled."""

from types import ModuleType
from typing import Any

import pytest

from moldau.net import receive_buffer
from moldau.runtime import native

COMPILED = native.kernel("moldau.net._receive_buffer", "moldau.net.receive_buffer")
FIRST = receive_buffer.FIRST_BYTES
CAPACITY, FRAME_MAX = 2_000, 10_000


@pytest.fixture(params=[receive_buffer, COMPILED], ids=["source", "compiled"])
def buffer(request: pytest.FixtureRequest) -> Any:
    module: ModuleType = request.param
    return module.ReceiveBuffer(CAPACITY, FRAME_MAX)


def receive(buffer: Any, data: bytes) -> None:
    """As a socket does, which fills no more than there is."""
    buffer.free()[: len(data)] = data
    buffer.end += len(data)


def test_what_came_is_taken_in_order(buffer: Any) -> None:
    receive(buffer, b"\0\0\0\3one\0\0\0\3two")
    assert buffer.int_at(buffer.start) == 3
    assert bytes(buffer.take(4, 3)) == b"one"
    assert buffer.int_at(buffer.start) == 3
    assert bytes(buffer.take(4, 3)) == b"two"
    assert buffer.start == buffer.end


def test_numbers_have_a_sign(buffer: Any) -> None:
    receive(buffer, b"\xff\xff\xff\xff\x7f\xff\xff\xff")
    assert buffer.int_at(0) == -1
    assert buffer.int_at(4) == 2**31 - 1


def test_it_is_small_then_as_large_as_usual_and_grows_for_large_frames_alone(buffer: Any) -> None:
    assert buffer.size == FIRST
    sizes: list[tuple[int, bool]] = []
    sent = bytes(range(250)) * 50
    while len(sizes) < 5:
        before = buffer.end
        receive(buffer, sent[before : before + len(buffer.free())])
        assert buffer.end == buffer.size
        sizes.append((buffer.size, buffer.must_grow()))
        buffer.make_room()
        assert bytes(buffer.take(0, buffer.end)) == sent[: buffer.end]
        buffer.start = 0
    # The first is replaced by the usual one without leave.
    assert sizes == [(FIRST, False), (2_000, True), (4_000, True), (8_000, True), (10_004, True)]


def test_what_waits_moves_to_the_front(buffer: Any) -> None:
    receive(buffer, b"x" * FIRST)
    buffer.make_room()
    receive(buffer, b"y" * (CAPACITY - FIRST))
    buffer.take(0, CAPACITY - 10)
    assert not buffer.must_grow()
    buffer.make_room()
    assert (buffer.size, buffer.start, buffer.end) == (CAPACITY, 0, 10)
    assert bytes(buffer.take(0, 10)) == b"y" * 10


def test_a_view_keeps_what_it_shows(buffer: Any) -> None:
    receive(buffer, b"z" * FIRST)
    view = buffer.take(0, FIRST)
    buffer.make_room()
    receive(buffer, b"other" * 20)
    assert bytes(view) == b"z" * FIRST


def test_it_shrinks_if_what_waits_leaves_it(buffer: Any) -> None:
    for _ in range(3):
        receive(buffer, bytes(len(buffer.free())))
        buffer.make_room()
    assert buffer.size == 8_000
    buffer.shrink()
    assert buffer.size == 8_000
    buffer.take(0, buffer.end - 100)
    buffer.shrink()
    assert (buffer.size, buffer.end - buffer.start) == (CAPACITY, 100)


def test_it_keeps_no_memory_in_the_end(buffer: Any) -> None:
    receive(buffer, b"secret")
    buffer.forget()
    assert (buffer.size, len(buffer.free())) == (0, 0)
