"""Producers: each sends numbered records to a partition, until each is acknowledged."""

import asyncio

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
from simulation.client import TOPIC, Client, require
from simulation.history import History, Outcome, Write

_ALL = -1
_PRODUCE_TIMEOUT_MS = 3_000
_PAUSE_S = 0.5
_BATCH_RECORDS_MAX = 8
# The log has forgotten, or never knew, what it acknowledged to this producer.
_FORGOTTEN = (
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.UNKNOWN_PRODUCER_ID,
    ErrorCode.INVALID_PRODUCER_EPOCH,
)


class IdempotentProducer:
    """One batch at a time, sent again with the same sequence until there is an answer."""

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
        """Produce until a moment; then see the last batch through."""
        while not self._is_over(until_s):
            self._life += 1
            try:
                await self._live(until_s)
            except KafkaError as error:
                self._history.surprises.append(f"{self._name}: {error.code.name}")
        self._client.close()

    def _is_over(self, until_s: float) -> bool:
        if asyncio.get_running_loop().time() < until_s:
            return False
        return self._history.acknowledged_count >= self._records_min

    @property
    def _name(self) -> str:
        return f"{self._client.name}/{self._life}"

    async def _live(self, until_s: float) -> None:
        producer_id, epoch = await self._begin()
        self._history.producer_ids.append((self._name, producer_id))
        sequence = 0
        while not self._is_over(until_s):
            count = 1 + self._client.chance.randrange(_BATCH_RECORDS_MAX)
            values = [f"{self._name}#{self._number + index}" for index in range(count)]
            self._number += count
            write = Write(self._name, self._partition, values)
            self._history.writes.append(write)
            batch = batch_of(self._client, values, Producer(producer_id, epoch, sequence))
            sequence += count
            await self._send(write, batch)
            await asyncio.sleep(_PAUSE_S * self._client.chance.random())

    async def _begin(self) -> tuple[int, int]:
        while True:
            try:
                answer = await self._client.ask_any(
                    InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0),
                    InitProducerIdResponse,
                    4,
                )
                require(answer.error_code)
            except KafkaError:
                await self._client.back_off()
            else:
                return answer.producer_id, answer.producer_epoch

    async def _send(self, write: Write, batch: bytes) -> None:
        while True:
            try:
                write.base_offset = await produce(self._client, write.partition, batch)
            except KafkaError as error:
                if error.code in _FORGOTTEN:
                    raise
                await self._client.back_off()
            else:
                write.outcome = Outcome.DONE
                return


async def produce(
    client: Client, partition: int, batch: bytes, transactional_id: str | None = None
) -> int:
    """Send a batch to its leader, for all in-sync replicas; returns its base offset."""
    data = TopicProduceData(
        name=TOPIC, partition_data=[PartitionProduceData(index=partition, records=batch)]
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
