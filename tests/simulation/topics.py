"""Topics that come, grow and go: what is written to one is in it, and in none that follows."""

import asyncio
from dataclasses import replace

from moldau.errors import ErrorCode, KafkaError
from moldau.records.batch import Producer
from simulation.administering import Admin
from simulation.client import Client, insist, require
from simulation.history import History, Incarnation
from simulation.reading import read_all
from simulation.shapes import Shape
from simulation.writing import batch_of, begin_producer, produce

_PAUSE_S = 1.0
_GROWTH_MAX = 2
_BATCHES_MAX = 4
# What was asked may happen yet.
_NO_ANSWER = (ErrorCode.NETWORK_EXCEPTION, ErrorCode.REQUEST_TIMED_OUT)


class TopicLives:
    """Makes a topic, writes to it, adds partitions, reads everything, deletes it, and again.

    The next one has the same name, unless a request to the last is still under way: it would
    be taken for the new one, for Produce names topics only.
    """

    def __init__(self, client: Client, shape: Shape, history: History) -> None:
        self._client = client
        self._admin = Admin(client)
        self._shape = replace(shape, partition_count=1)
        self._history = history
        self._name_number = 0
        self._is_under_way = False
        self._producer = (-1, -1)
        self._sequences: dict[int, int] = {}

    async def run(self, until_s: float) -> None:
        """Let topics come and go until a moment; the last one stays."""
        loop = asyncio.get_running_loop()
        self._producer = await begin_producer(self._client)
        before = b""
        while loop.time() < until_s:
            if self._is_under_way:
                self._name_number += 1
            self._client.topic = f"short-lived-{self._name_number}"
            life = await self._create(before)
            await self._live(life)
            before = life.topic_id
            if loop.time() < until_s:
                await self._admin.delete(self._client.topic)
                life.is_deleted = True
        self._client.close()

    async def _create(self, before: bytes) -> Incarnation:
        """Make the topic, and see to it that it is not the one before, which may be going yet."""
        self._client.forget_epochs()

        async def create() -> bytes:
            await self._admin.create(self._client.topic, self._shape)
            (topic,) = (await self._client.metadata()).topics
            require(topic.error_code)
            if topic.topic_id == before:
                raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, self._client.topic)
            return bytes(topic.topic_id)

        found = await insist(create, self._client)
        self._is_under_way = False
        self._sequences.clear()
        number = len(self._history.incarnations)
        life = Incarnation(f"{self._client.topic}/{number}", found)
        self._history.incarnations.append(life)
        return life

    async def _live(self, life: Incarnation) -> None:
        chance = self._client.chance
        await self._write(life, 0)
        for _ in range(chance.randrange(_GROWTH_MAX + 1)):
            partition = life.partition_count
            await self._admin.grow(self._client.topic, partition + 1)
            life.partition_count += 1
            await self._write(life, partition)
            await asyncio.sleep(_PAUSE_S * chance.random())
        for partition in range(life.partition_count):
            await self._read(life, partition)

    async def _read(self, life: Incarnation, partition: int) -> None:
        """Read all that was written, however long it takes.

        A leader that has just been elected may not know yet that it is committed.
        """
        while True:
            found = await read_all(self._client, partition, is_committed_only=False)
            life.read[partition] = [value for _, value in found]
            if len(found) >= len(life.written[partition]):
                return
            await self._client.back_off()

    async def _write(self, life: Incarnation, partition: int) -> None:
        for _ in range(1 + self._client.chance.randrange(_BATCHES_MAX)):
            sequence = self._sequences.get(partition, 0)
            self._sequences[partition] = sequence + 1
            value = f"{life.name}/{partition}#{sequence}"
            life.written.setdefault(partition, []).append(value)
            batch = batch_of(self._client, [value], Producer(*self._producer, sequence))
            await self._produce(partition, batch)

    async def _produce(self, partition: int, batch: bytes) -> None:
        while True:
            try:
                await produce(self._client, partition, batch)
            except KafkaError as error:
                self._is_under_way |= error.code in _NO_ANSWER
                await self._client.back_off()
            else:
                return
