"""The life of a client that blocks."""

import threading

import pytest

from moldau.client.blocking.client import BlockingClient


class Recorder:
    """An asyncio client that remembers what was asked of it."""

    def __init__(self, *, fails: bool = False) -> None:
        self.calls: list[str] = []
        self._fails = fails

    async def start(self) -> None:
        self.calls.append("start")
        if self._fails:
            raise ConnectionRefusedError("nobody there")

    async def close(self) -> None:
        self.calls.append("close")
        if self._fails:
            raise ConnectionResetError("gone")


def test_a_block_starts_and_closes_it_once() -> None:
    recorder = Recorder()
    with BlockingClient(recorder, "recorder") as client:
        assert recorder.calls == ["start"]
    client.close()
    assert recorder.calls == ["start", "close"]
    assert client.thread.is_closed


def test_what_cannot_be_started_leaves_no_thread_behind() -> None:
    with pytest.raises(ConnectionRefusedError, match="nobody there"):
        BlockingClient(Recorder(fails=True), "failing-recorder")
    assert all(each.name != "failing-recorder" for each in threading.enumerate())


def test_the_thread_ends_even_if_closing_fails() -> None:
    recorder = Recorder()
    client = BlockingClient(recorder, "recorder")
    recorder._fails = True
    with pytest.raises(ConnectionResetError):
        client.close()
    assert client.thread.is_closed
