"""Processes of brokers as connections show them, and time that passes when a test says so."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from moldau.controller.cluster import LiveBroker
from moldau.controller.presence import Sign
from unit.waiting import LoopTime


class LoopClock:
    """The loop's time, which may jump."""

    def __init__(self, time: LoopTime) -> None:
        self._time = time

    def now_ms(self) -> int:
        return self.monotonic_ms()

    def monotonic_ms(self) -> int:
        return round(self._time.now_s() * 1000)

    def monotonic_ns(self) -> int:
        return self.monotonic_ms() * 1_000_000


@dataclass(slots=True)
class Processes:
    """What calls of each broker meet; by default they are answered."""

    calls: Counter[int] = field(default_factory=Counter)
    meets: dict[int, Sign] = field(default_factory=dict)
    contacts: list["Line"] = field(default_factory=list)

    def open(self, broker: LiveBroker) -> "Line":
        line = Line(self, broker.id)
        self.contacts.append(line)
        return line

    def kill(self, broker_id: int, sign: Sign = Sign.REFUSED) -> None:
        """Its connections end, and others meet this."""
        self.meets[broker_id] = sign
        self.cut(broker_id)

    def start(self, broker_id: int) -> None:
        self.meets.pop(broker_id)

    def cut(self, broker_id: int) -> None:
        for line in self.contacts:
            if line.broker_id == broker_id:
                line.lost.set()


@dataclass(eq=False, slots=True)
class Line:
    """A contact to a broker."""

    processes: Processes
    broker_id: int
    is_closed: bool = False
    lost: asyncio.Event = field(default_factory=asyncio.Event)

    async def call(self) -> None:
        self.processes.calls[self.broker_id] += 1
        self.lost.clear()
        await asyncio.sleep(0)
        match self.processes.meets.get(self.broker_id, Sign.ANSWERED):
            case Sign.REFUSED:
                raise ConnectionRefusedError
            case Sign.SILENT:
                raise TimeoutError
            case Sign.ANSWERED:
                pass

    async def until_lost(self) -> None:
        await self.lost.wait()

    def close(self) -> None:
        self.is_closed = True
