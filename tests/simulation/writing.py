"""Producers: each sends numbered records to a partition, until each is acknowledged."""

import asyncio
from collections import deque
from dataclasses import dataclass

from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.record import Record
from simulation.client import Client, insist, require
from simulation.history import History, Outcome, Write

_ALL = -1
_PRODUCE_TIMEOUT_MS = 3_000
IN_FLIGHT_MAX = 5
_PAUSE_S = 1.0
_BURST_BATCHES_MAX = 7
_BATCH_RECORDS_MAX = 4
# The log has forgotten, or never knew, what it acknowledged to this producer.
_FORGOTTEN = (
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.UNKNOWN_PRODUCER_ID,
    ErrorCode.INVALID_PRODUCER_EPOCH,
)


class Unrecognised(Exception):
    """A batch was sent again, and the log does not know whether it has it.

    As with Kafka: what a broker writes down of a producer is its last batch alone, so one
    that was started again does not know the four before.
    """


@dataclass(slots=True)
class Sent:
    """A batch that is under way; `answer` gives the error that came of it, or None."""

    write: Write
    batch: bytes
    answer: asyncio.Task[KafkaError | None]
    is_again: bool = False


class Window:
    """Batches of a producer that are under way, in the order of their sequences.

    After a failure all of them are waited for, and those that failed are sent again in their
    order. So none is sent that is more than the window ahead of one without an answer: a
    broker knows a batch again only as long as it is among the last five of its producer.
    The first batch of all is alone: as with Kafka 3, a producer of which a log knows nothing
    may begin with any sequence, so the second would be taken where the first was refused.
    """

    def __init__(
        self, client: Client, partition: int, *, in_flight_max: int = IN_FLIGHT_MAX
    ) -> None:
        self._client = client
        self._partition = partition
        self._under_way: deque[Sent] = deque()
        self._in_flight_max = 1
        self._in_flight_max_later = in_flight_max

    async def send(self, write: Write, batch: bytes) -> None:
        """Send a batch as soon as it is one of few; KafkaError if an earlier one is forgotten."""
        while len(self._under_way) >= self._in_flight_max:
            await self._settle_first()
        await self._reach_leader()
        self._under_way.append(Sent(write, batch, self._start(write, batch)))

    async def settle(self) -> None:
        """Wait until every batch is acknowledged; KafkaError if one is forgotten."""
        while self._under_way:
            await self._settle_first()

    def abandon(self) -> None:
        """Wait for nothing any more."""
        for sent in self._under_way:
            sent.answer.cancel()
        self._under_way.clear()

    async def _settle_first(self) -> None:
        error = await self._under_way[0].answer
        if error is None:
            self._under_way.popleft()
            self._in_flight_max = self._in_flight_max_later
            return
        # Only what has nothing before it without an answer is certainly the next in its log.
        if error.code in _FORGOTTEN:
            if self._under_way[0].is_again and len(self._under_way) > 1:
                raise Unrecognised
            raise error
        failed = [sent for sent in self._under_way if await sent.answer is not None]
        self._under_way = deque(failed)
        await self._client.back_off()
        await self._reach_leader()
        for sent in failed:
            sent.answer, sent.is_again = self._start(sent.write, sent.batch), True

    async def _reach_leader(self) -> None:
        """Connect first: requests that each connect by themselves lose their order."""
        await insist(lambda: self._client.reach_leader(self._partition), self._client)

    def _start(self, write: Write, batch: bytes) -> asyncio.Task[KafkaError | None]:
        return asyncio.get_running_loop().create_task(self._produce(write, batch))

    async def _produce(self, write: Write, batch: bytes) -> KafkaError | None:
        try:
            write.base_offset = await produce(self._client, write.partition, batch)
        except KafkaError as error:
            return error
        write.outcome = Outcome.DONE
        return None


class IdempotentProducer:
    """Some batches at a time, each sent again with the same sequence until there is an answer."""

    def __init__(
        self, client: Client, partition: int, history: History, *, records_min: int = 0
    ) -> None:
        """It goes on until so many records of all producers are acknowledged."""
        self._client = client
        self._partition = partition
        self._history = history
        self._records_min = records_min
        self._life = 0
        self._number = 0

    async def run(self, until_s: float) -> None:
        """Produce until a moment; then see the last batches through."""
        while not self._is_over(until_s):
            self._life += 1
            window = Window(self._client, self._partition)
            try:
                await self._live(window, until_s)
            except Unrecognised:
                window.abandon()
            except KafkaError as error:
                window.abandon()
                self._history.surprises.append(f"{self._name}: {error.code.name}")
        self._client.close()

    def _is_over(self, until_s: float) -> bool:
        if asyncio.get_running_loop().time() < until_s:
            return False
        return self._history.acknowledged_count >= self._records_min

    @property
    def _name(self) -> str:
        return f"{self._client.name}/{self._life}"

    async def _live(self, window: Window, until_s: float) -> None:
        chance = self._client.chance
        producer_id, epoch = await begin_producer(self._client)
        self._history.producer_ids.append((self._name, producer_id))
        sequence = 0
        while not self._is_over(until_s):
            for _ in range(1 + chance.randrange(_BURST_BATCHES_MAX)):
                count = 1 + chance.randrange(_BATCH_RECORDS_MAX)
                values = [f"{self._name}#{self._number + index}" for index in range(count)]
                self._number += count
                write = Write(self._name, self._partition, values)
                self._history.writes.append(write)
                batch = batch_of(self._client, values, Producer(producer_id, epoch, sequence))
                sequence += count
                await window.send(write, batch)
            await asyncio.sleep(_PAUSE_S * chance.random())
        await window.settle()


async def begin_producer(client: Client) -> tuple[int, int]:
    """Get a producer id and its epoch, however long it takes."""

    async def begin() -> tuple[int, int]:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0)
        answer = await client.ask_any(request, InitProducerIdResponse, 4)
        require(answer.error_code)
        return answer.producer_id, answer.producer_epoch

    return await insist(begin, client)


async def produce(
    client: Client, partition: int, batch: bytes, transactional_id: str | None = None
) -> int:
    """Send a batch to its leader, for all in-sync replicas; returns its base offset."""
    data = TopicProduceData(
        name=client.topic, partition_data=[PartitionProduceData(index=partition, records=batch)]
    )
    request = ProduceRequest(
        transactional_id=transactional_id,
        acks=_ALL,
        timeout_ms=_PRODUCE_TIMEOUT_MS,
        topic_data=[data],
    )
    answer = await client.ask_leader(partition, request, ProduceResponse, 9)
    ((result,),) = (topic.partition_responses for topic in answer.responses)
    require(result.error_code)
    return int(result.base_offset)


def batch_of(
    client: Client, values: list[str], producer: Producer, *, is_transactional: bool = False
) -> bytes:
    """A batch of records without keys."""
    records = [
        Record(index, client.timestamp_ms, None, value.encode())
        for index, value in enumerate(values)
    ]
    attributes = TRANSACTIONAL if is_transactional else 0
    return bytes(write_batch(records, producer=producer, attributes=attributes))
