"""Byte buffers."""

import pytest

from moldau.records.buffers import room


@pytest.mark.parametrize("capacity", [0, 1, 2**20, 2**20 + 1])
def test_room_is_writable_and_clear(capacity: int) -> None:
    output = room(capacity)
    assert output.nbytes == capacity
    assert not output.readonly
    assert not any(output[:100])
