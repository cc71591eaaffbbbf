"""Connections to brokers that are held, lost, and tried again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from moldau.controller.cluster import LiveBroker
from moldau.controller.lookout import Lookout
from moldau.controller.presence import LOOK_AGAIN_MS, Sign
from unit.controller.watched import Line, LoopClock, Processes
from unit.waiting import LoopTime, settled

B1, B2 = LiveBroker(1, 101, ()), LiveBroker(2, 102, ())


@dataclass(slots=True)
class Scene:
    time: LoopTime
    lookout: Lookout
    processes: Processes
    changes: list[None] = field(default_factory=list)

    async def pass_ms(self, milliseconds: int) -> None:
        for _ in range(milliseconds // 10):
            self.time.jump(0.01)
            await settled()


@asynccontextmanager
async def scene(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    time, processes, changes = LoopTime(monkeypatch), Processes(), list[None]()
    async with asyncio.TaskGroup() as tasks:
        lookout = Lookout(
            tasks, processes.open, LoopClock(time), changed=lambda: changes.append(None)
        )
        yield Scene(time, lookout, processes, changes)
        lookout.watch([])


async def test_a_process_that_has_died_is_gone_within_half_a_second(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # That it is not gone a moment too early is for the machine to say: real time passes here too.
    async with scene(monkeypatch) as on:
        on.lookout.watch([B1, B2])
        await on.pass_ms(1_000)
        assert on.processes.calls == {1: 1, 2: 1}
        on.processes.kill(1)
        await on.pass_ms(500)
        assert on.lookout.is_gone(B1)
        assert not on.lookout.is_gone(B2)
        assert len(on.changes) == 1
    assert "Broker 1 is gone: its connections are refused" in caplog.text


@pytest.mark.parametrize(
    "error", [TimeoutError(), UnicodeError("a label is too long"), OverflowError("a port of 70000")]
)
async def test_a_broker_that_cannot_be_called_is_only_silent(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_self: Line) -> None:
        raise error

    monkeypatch.setattr(Line, "call", fail)
    async with scene(monkeypatch) as on:
        on.lookout.watch([B1])
        await on.pass_ms(2_000)
        assert not on.lookout.is_gone(B1)


@pytest.mark.parametrize("sign", [Sign.SILENT, Sign.ANSWERED])
async def test_a_lost_connection_alone_is_no_end(
    sign: Sign, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(monkeypatch) as on:
        on.lookout.watch([B1])
        await on.pass_ms(1_000)
        on.processes.kill(1, sign)
        await on.pass_ms(10_000)
        assert not on.lookout.is_gone(B1)
        assert on.changes == []


async def test_one_that_was_taken_for_gone_comes_back_when_it_answers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with scene(monkeypatch) as on:
        on.lookout.watch([B1])
        await on.pass_ms(200)
        on.processes.kill(1)
        await on.pass_ms(500)
        assert on.lookout.is_gone(B1)
        on.processes.start(1)
        await on.pass_ms(LOOK_AGAIN_MS + 10)
        assert not on.lookout.is_gone(B1)
        assert len(on.changes) == 2
    assert "Broker 1 is back" in caplog.text


async def test_connections_that_end_at_once_are_not_made_without_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene(monkeypatch) as on:
        on.lookout.watch([B1])
        for _ in range(100):
            await on.pass_ms(10)
            on.processes.cut(1)
        await settled()
        assert 5 <= on.processes.calls[1] <= 50


async def test_what_is_known_of_a_broker_is_kept_while_it_is_watched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene(monkeypatch) as on:
        on.lookout.watch([B1])
        await on.pass_ms(200)
        on.processes.kill(1)
        await on.pass_ms(500)
        on.lookout.watch([B2, B1])
        assert on.lookout.is_gone(B1)
        # Another registration is another life.
        assert not on.lookout.is_gone(B1._replace(epoch=103))
        on.lookout.watch([B2])
        await settled()
        assert not on.lookout.is_gone(B1)
        assert [line.is_closed for line in on.processes.contacts] == [True, False]


async def test_a_silent_broker_is_called_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene(monkeypatch) as on:
        on.processes.meets[1] = Sign.SILENT
        on.lookout.watch([B1])
        await on.pass_ms(2 * LOOK_AGAIN_MS + 100)
        assert on.processes.calls[1] == 3
