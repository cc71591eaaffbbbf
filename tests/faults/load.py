"""The clients that a fault is played under, and the history that they write.

Most are those of the simulation: idempotent and transactional producers, readers of
everything and of what is committed, members of a group and a consumer that commits. Beside
them librdkafka sends and reads as users do.
"""

import asyncio
import random
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from itertools import pairwise
from typing import Any, TypeVar

from confluent_kafka import KafkaError

from conformance.our_cluster import until
from faults.librdkafka import Sender, Way, receive
from simulation.client import Address, Client
from simulation.grouping import Committer, Member, group_offset
from simulation.history import History, Outcome
from simulation.reading import Reader, read_all
from simulation.transacting import TransactionalProducer
from simulation.writing import IdempotentProducer

PARTITIONS = 3
LIBRDKAFKA = "librdkafka"
_SEND_PAUSE_S = 0.004
_SENT_TOGETHER = 4  # of each partition
_END_S = 60.0
_TRANSACTIONAL = 2


Result = TypeVar("Result")


class _OnDemand(float):
    """A moment that comes when somebody says so: later than any other until then."""

    is_come = False

    def __gt__(self, other: object) -> bool:
        return not self.is_come


class Load:
    """All clients, from a start to an end."""

    def __init__(self, brokers: Mapping[int, Address], way: Way | None = None) -> None:
        """librdkafka goes its own way, if there is one."""
        self.history = History()
        self._brokers = brokers
        self._way = way or Way(self.bootstrap)
        self._sender = Sender(self._way, LIBRDKAFKA, self.history)
        self._end = _OnDemand()
        self._loop = asyncio.new_event_loop()
        self._works: list[asyncio.Task[None]] = []
        self._clients: list[Client] = []
        self._threads = [
            threading.Thread(target=self._loop.run_forever, daemon=True),
            threading.Thread(target=self._send, daemon=True),
            threading.Thread(target=self._receive, daemon=True),
        ]

    @property
    def bootstrap(self) -> str:
        return ",".join(f"{host}:{port}" for host, port in self._brokers.values())

    @property
    def acknowledged_count(self) -> int:
        """How many of librdkafka's records were acknowledged."""
        return len(self._sender.acknowledged_at_s)

    @property
    def errors(self) -> list[KafkaError]:
        """Why librdkafka's records were not acknowledged."""
        return self._sender.errors

    def longest_pause_s(self) -> float:
        """The longest time in which nothing was acknowledged to librdkafka."""
        times = self._sender.acknowledged_at_s
        return max(after - before for before, after in pairwise(times))

    def start(self) -> None:
        for thread in self._threads:
            thread.start()
        self.run(self._start())

    def until_more(self, count: int = 100) -> None:
        """Wait until so many more records are acknowledged in each partition together."""
        wanted = self.acknowledged_count + count
        until(lambda: self.acknowledged_count >= wanted, f"{count} more acknowledged records")

    def until_everyone_works(self) -> None:
        """Wait until records are acknowledged, offsets and transactions committed, groups shared.

        Faults are to find everything under way, not just the first topics being made.
        """
        history = self.history
        self.until_more()
        until(
            lambda: (
                history.joined
                and any(one.outcome is Outcome.DONE for one in list(history.commits))
                and any(one.outcome is Outcome.DONE for one in [*history.transactions.values()])
            ),
            "all clients are at work",
        )

    def acknowledged_end(self, partition: int) -> int:
        """The offset after the last one that was acknowledged to librdkafka."""
        return 1 + max(
            (
                write.base_offset
                for write in list(self.history.writes)
                if write.partition == partition and write.outcome is Outcome.DONE
            ),
            default=-1,
        )

    def sender(self, name: str, **settings: object) -> Sender:
        """One more producer, whose records are judged with the others."""
        return Sender(self._way, name, self.history, **settings)

    def finish(self) -> None:
        """Let every client come to its end; a client that does not is a surprise."""
        self._end.is_come = True
        for thread in self._threads[1:]:
            thread.join()
        asyncio.run_coroutine_threadsafe(self._finish(), self._loop).result()

    def abandon(self) -> None:
        """End without waiting for anything, if it has not ended yet."""
        self._end.is_come = True
        if self._threads[0].is_alive():
            self.run(self._cancel())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._threads[0].join()
            self._loop.close()

    def read_the_end(self) -> None:
        """Note what is to be read when everything has come to rest."""
        self.run(self._read_the_end())

    def client(self, name: str) -> Client:
        """A small client, for what the load does not do by itself."""
        now_ms = int(time.time() * 1000)
        self._clients.append(Client(name, self._brokers, random.Random(name), now_ms))
        return self._clients[-1]

    def begin(self, work: Callable[[float], Coroutine[Any, Any, None]]) -> None:
        """Let one more client take part until the end."""

        async def start() -> None:
            self._works.append(self._loop.create_task(work(self._end)))

        self.run(start())

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Let a client work, among the others."""

        async def within_reason() -> Result:
            async with asyncio.timeout(_END_S):
                return await work

        return asyncio.run_coroutine_threadsafe(within_reason(), self._loop).result()

    # The clients of the simulation, in a loop of their own

    async def _start(self) -> None:
        history, count = self.history, PARTITIONS
        works: list[Coroutine[Any, Any, None]] = []
        for partition in range(count):
            client = self.client(f"producer-{partition}")
            works.append(IdempotentProducer(client, partition, history).run(self._end))
            for kind in ("all", "committed"):
                client = self.client(f"reader-{partition}-{kind}")
                is_committed = kind == "committed"
                reader = Reader(client, partition, history, is_committed_only=is_committed)
                works.append(reader.run(self._end))
        for index in range(_TRANSACTIONAL):
            client = self.client(f"transactional-{index}")
            works.append(TransactionalProducer(client, count, history).run(self._end))
            member = Member(self.client(f"member-{index}"), count, history)
            works.append(member.run(self._end))
        works.append(Committer(self.client("committer"), history).run(self._end))
        self._works = [self._loop.create_task(work) for work in works]

    async def _finish(self) -> None:
        _, late = await asyncio.wait(self._works, timeout=_END_S)
        if late:
            surprise = f"{len(late)} clients did not come to an end within {_END_S} s"
            self.history.surprises.append(surprise)
        for work in self._works:
            if work not in late and (failure := work.exception()) is not None:
                self.history.surprises.append(f"a client failed: {failure!r}")

    async def _cancel(self) -> None:
        for work in self._works:
            work.cancel()
        await asyncio.gather(*self._works, return_exceptions=True)
        for client in self._clients:
            client.close()
        # Connections close in the loop's next turn.
        await asyncio.sleep(0)

    async def _read_the_end(self) -> None:
        client, history = self.client("auditor"), self.history
        for partition in range(PARTITIONS):
            history.final[partition] = await read_all(client, partition, is_committed_only=False)
            committed = await read_all(client, partition, is_committed_only=True)
            history.final_committed[partition] = committed
        groups = {commit.group: None for commit in history.commits}
        groups |= {f"transactional-{index}-offsets": None for index in range(_TRANSACTIONAL)}
        for group in groups:
            history.final_group_offsets[group] = await group_offset(client, group)

    # librdkafka, in threads

    def _send(self) -> None:
        while not self._end.is_come:
            for _ in range(_SENT_TOGETHER):
                for partition in range(PARTITIONS):
                    self._sender.send(partition)
            self._sender.poll(_SEND_PAUSE_S)
            time.sleep(_SEND_PAUSE_S)
        if self._sender.flush(_END_S):
            self.history.surprises.append("librdkafka could not send everything")

    def _receive(self) -> None:
        receive(self._way, LIBRDKAFKA, self.history, PARTITIONS, lambda: self._end.is_come)
