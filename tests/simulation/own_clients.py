"""Moldau's own clients in a simulated world: a producer and a consumer of `moldau.client`.

They take connections, time and chance from the system by themselves. While a world exists,
the names below give them the world's; a name that is gone fails the first seed that needs it.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from moldau.client.connection import authentication, cluster, opening
from moldau.client.connection.addresses import Address
from moldau.client.connection.connection import BrokerConnection
from moldau.client.consumer.consumer import Consumer
from moldau.client.producer import accumulator, producer
from moldau.client.producer.producer import Producer
from moldau.client.settings import ClientSettings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.testing.world.ports import WorldClock, WorldRandom
from moldau.testing.world.world import World
from simulation.client import START_MS, TOPIC, Client
from simulation.history import History, Outcome, Read, Write

_PAUSE_S = 1.0
_BURST_MAX = 8
_REQUEST_TIMEOUT_MS = 5_000
_POLL_S = 0.5


@contextmanager
def in_world(world: World) -> Iterator[None]:
    """Let clients use the network, the time and the chance of a world."""
    clock, chance = WorldClock(world.loop), WorldRandom(world.chance("own clients"))
    names = (
        (opening, "_connect", _connect),
        (cluster, "SystemClock", lambda: clock),
        (cluster, "SystemRandom", lambda: chance),
        (producer, "SystemRandom", lambda: chance),
        (accumulator, "time", _Time(clock)),
        (authentication, "call_beside", _call_at_once),
    )
    systems = [getattr(module, name) for module, name, _ in names]
    for module, name, ours in names:
        setattr(module, name, ours)
    try:
        yield
    finally:
        for (module, name, _), system in zip(names, systems, strict=True):
            setattr(module, name, system)


async def _call_at_once(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


class _Time:
    """What of the module `time` is used."""

    def __init__(self, clock: WorldClock) -> None:
        self._clock = clock

    def time_ns(self) -> int:
        return self._clock.now_ms() * 1_000_000


async def _connect(address: Address, settings: ClientSettings, _tls: object) -> BrokerConnection:
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(settings.socket_connection_setup_timeout_ms / 1000):
            _, connection = await loop.create_connection(
                lambda: BrokerConnection(str(address), settings.client_id), *address
            )
    except OSError as error:
        raise KafkaError(ErrorCode.NETWORK_EXCEPTION, f"{address}: {error}") from error
    return connection


class OwnProducer:
    """Sends numbered records to a partition, and notes what becomes of each."""

    def __init__(self, client: Client, history: History, partition: int) -> None:
        self._client = client
        self._history = history
        self._partition = partition
        self._receipts: list[asyncio.Task[None]] = []

    async def run(self, until_s: float) -> None:
        """Send until a moment; then wait for what is under way."""
        loop, chance, number = asyncio.get_running_loop(), self._client.chance, 0
        async with Producer[bytes, bytes](
            self._client.login_settings,
            bootstrap_servers=self._client.bootstrap,
            client_id=self._client.name,
            linger_ms=chance.choice([0, 5, 50]),
            batch_size=256,
            request_timeout_ms=_REQUEST_TIMEOUT_MS,
            delivery_timeout_ms=1_000_000,
            max_block_ms=1_000_000,
        ) as sender:
            while loop.time() < until_s:
                for _ in range(1 + chance.randrange(_BURST_MAX)):
                    write = Write(self._client.name, self._partition, [self._value(number)])
                    number += 1
                    self._history.writes.append(write)
                    await self._send(sender, write)
                await asyncio.sleep(_PAUSE_S * chance.random())
            await asyncio.gather(*self._receipts)

    def _value(self, number: int) -> str:
        return f"{self._client.name}#{number}"

    async def _send(self, sender: Producer[bytes, bytes], write: Write) -> None:
        receipt = await sender.send(
            TOPIC,
            write.values[0].encode(),
            partition=write.partition,
            timestamp_ms=START_MS,
        )

        async def note() -> None:
            with suppress(KafkaError):
                write.base_offset = (await receipt).offset
                write.outcome = Outcome.DONE

        self._receipts.append(asyncio.get_running_loop().create_task(note()))


class OwnConsumer:
    """Reads all partitions on and on, and remembers everything."""

    def __init__(
        self, client: Client, history: History, partition_count: int, *, is_committed_only: bool
    ) -> None:
        self._client = client
        self._history = history
        self._partitions = [TopicPartition(TOPIC, number) for number in range(partition_count)]
        self._is_committed_only = is_committed_only

    async def run(self, until_s: float) -> None:
        """Read until a moment."""
        loop = asyncio.get_running_loop()
        async with Consumer[bytes, bytes](
            self._client.login_settings,
            bootstrap_servers=self._client.bootstrap,
            client_id=self._client.name,
            auto_offset_reset="none",
            isolation_level="read_committed" if self._is_committed_only else "read_uncommitted",
            request_timeout_ms=_REQUEST_TIMEOUT_MS,
            default_api_timeout_ms=1_000_000,
        ) as reader:
            reader.assign(dict.fromkeys(self._partitions, 0))
            while loop.time() < until_s:
                for record in await reader.poll(timeout_s=_POLL_S):
                    value = (record.value or b"").decode()
                    self._history.reads.append(
                        Read(
                            self._client.name,
                            record.partition,
                            record.offset,
                            value,
                            self._is_committed_only,
                        )
                    )
