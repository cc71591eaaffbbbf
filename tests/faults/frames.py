"""F28 and F29: requests that come late, or twice."""

from faults.fault import fault
from faults.load import PARTITIONS
from faults.stage import Stage
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from moldau.records.batch import Producer
from simulation.history import Outcome, Transaction, Write
from simulation.reading import read_all
from simulation.transacting import Identity, TransactionalProducer
from simulation.writing import batch_of, produce

_REMEMBERED = 5
"""So many batches of a producer are known again."""


@fault()
def f28(stage: Stage) -> None:
    """A Produce request comes after the end of its transaction, and an EndTxn request after the
    next one has begun."""
    for index in range(stage.rounds):
        stage.load.run(_produce_late(stage, f"late-{index}"))
        stage.load.run(_end_late(stage, f"later-{index}"))


async def _produce_late(stage: Stage, name: str) -> None:
    producer = TransactionalProducer(stage.load.client(name), PARTITIONS, stage.load.history)
    identity = await producer.begin()
    await producer.insist(lambda: producer.add_partitions(identity, [0]))
    await _write(stage, name, identity, is_commit=True)
    await producer.insist(lambda: producer.end(identity, is_commit=True))
    stage.load.history.transactions[f"{name}@1"].outcome = Outcome.DONE
    await _until_visible(stage, f"{name}@1/0#0")
    refused = await _refusal(_write(stage, name, identity, is_commit=False))
    assert refused is ErrorCode.INVALID_TXN_STATE, f"a late batch got {refused}"


async def _until_visible(stage: Stage, value: str) -> None:
    """Wait for the marker: until it is written the transaction goes on, as with Kafka."""
    client = stage.load.client("waiting")
    while value not in {found for _, found in await read_all(client, 0, is_committed_only=True)}:
        pass
    client.close()


async def _end_late(stage: Stage, name: str) -> None:
    """Who does not know whether its EndTxn arrived begins anew; so the old one is refused."""
    producer = TransactionalProducer(stage.load.client(name), PARTITIONS, stage.load.history)
    first = await producer.begin()
    await producer.insist(lambda: producer.add_partitions(first, [0]))
    await _write(stage, name, first, is_commit=False)
    second = await producer.begin()
    await producer.insist(lambda: producer.add_partitions(second, [0]))
    await _write(stage, name, second, is_commit=False)
    refused = await _refusal(producer.end(first, is_commit=True))
    fenced = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED)
    assert refused in fenced, f"a late EndTxn got {refused}"
    await producer.insist(lambda: producer.end(second, is_commit=False))


async def _write(stage: Stage, name: str, identity: Identity, *, is_commit: bool) -> None:
    """One record of a transaction; the next of this producer is another transaction's."""
    history = stage.load.history
    number = 1 + sum(one.startswith(f"{name}@") for one in history.transactions)
    transaction = Transaction(f"{name}@{number}", is_commit)
    history.transactions[transaction.name] = transaction
    write = Write(transaction.name, 0, [f"{transaction.name}/0#0"], transaction.name)
    history.writes.append(write)
    sequence = identity.sequences.get(0, 0)
    identity.sequences[0] = sequence + 1
    fields = Producer(identity.producer_id, identity.epoch, sequence)
    client = stage.load.client(name)
    batch = batch_of(client, write.values, fields, is_transactional=True)
    write.base_offset = await produce(client, 0, batch, name)
    write.outcome = Outcome.DONE


async def _refusal(work: object) -> ErrorCode | None:
    try:
        await work  # type: ignore[misc]
    except KafkaError as error:
        return error.code
    return None


@fault()
def f29(stage: Stage) -> None:
    """Each Produce request comes again on another connection, one to six batches later."""
    for index in range(stage.rounds):
        stage.load.run(_repeat(stage, f"repeating-{index}"))


async def _repeat(stage: Stage, name: str) -> None:
    client, other = stage.load.client(name), stage.load.client(f"{name}-again")
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0)
    answer = await client.ask_any(request, InitProducerIdResponse, 4)
    sent: list[tuple[bytes, int]] = []
    for number in range(_REMEMBERED * 4):
        write = Write(name, 0, [f"{name}#{number}"])
        stage.load.history.writes.append(write)
        fields = Producer(answer.producer_id, answer.producer_epoch, number)
        batch = batch_of(client, write.values, fields)
        write.base_offset = await produce(client, 0, batch)
        write.outcome = Outcome.DONE
        sent.append((batch, write.base_offset))
        for batch, offset in sent[-_REMEMBERED:]:
            again = await produce(other, 0, batch)
            assert again == offset, f"at {offset} before, at {again} now"
        if len(sent) > _REMEMBERED:
            refused = await _refusal(produce(other, 0, sent[-_REMEMBERED - 1][0]))
            assert refused is not None, "a batch that nobody remembers was taken"
