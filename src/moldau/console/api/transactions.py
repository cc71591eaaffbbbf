"""Transactions: listed, described, searched for those that hang, ended; and producers."""

import asyncio
import time

from moldau.client.admin.hanging import TIMEOUT_MS, find_hanging
from moldau.client.admin.transactions import OpenTransaction, ProducerState
from moldau.console.access import Role
from moldau.console.bodies import confirm, partition_of, whole_of
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint, answered, described, silent
from moldau.model import TopicPartition
from moldau.web.errors import WebError

_TRANSACTIONS = f"{PREFIX}/transactions"
_SEARCH_S = 30.0
_DAY_MS = 86_400_000


async def transactions(call: ApiCall) -> object:
    """All transactional ids with their states, as their coordinators list them."""
    found = await (await call.admin()).list_transactions_by_broker()
    listed = [each for some in answered(found).values() for each in some]
    return {
        "transactions": [
            {
                "id": each.transactional_id,
                "producer_id": each.producer_id,
                "state": each.state,
                "coordinator": each.coordinator,
            }
            for each in sorted(listed, key=lambda each: each.transactional_id)
        ],
        "missing": silent(found),
    }


async def transaction(call: ApiCall) -> object:
    """One transaction; it has partitions and an age while it is under way."""
    name = call.path("transaction")
    found = (await (await call.admin()).describe_transactions(name))[name]
    return {
        "id": name,
        "state": found.state,
        "producer_id": found.producer_id,
        "producer_epoch": found.producer_epoch,
        "timeout_ms": found.timeout_ms,
        "start_ms": found.start_ms,
        "age_ms": None if found.start_ms is None else _now_ms() - found.start_ms,
        "coordinator": found.coordinator,
        "partitions": [
            {"topic": each.topic, "partition": each.partition} for each in sorted(found.partitions)
        ],
    }


async def hanging(call: ApiCall) -> object:
    """Transactions that no coordinator knows and that are older than any may be."""
    default = TIMEOUT_MS // 60_000
    minutes = call.number("minutes", default, low=0, high=_DAY_MS // 60_000)
    admin = await call.admin()
    listed = [call.text("topic")] if call.text("topic") else None
    names = listed or list(await admin.list_topics(include_internal=True))
    topics = await admin.describe_topics(names)
    partitions = [
        TopicPartition(name, each.partition)
        for name, topic in topics.succeeded.items()
        for each in topic.partitions
        if each.leader >= 0
    ]
    async with asyncio.timeout(_SEARCH_S):
        found, errors = await find_hanging(
            admin, partitions, now_ms=_now_ms(), older_ms=minutes * 60_000
        )
    return {
        "searched": len(partitions) - len(errors),
        "unanswered": len(errors) + len(topics.errors),
        "minutes": minutes,
        "hanging": [
            {
                "topic": each.partition.topic,
                "partition": each.partition.partition,
                "age_ms": each.age_ms,
                **_producer(each.producer),
            }
            for each in found
        ],
    }


async def abort(call: ApiCall) -> object:
    """End a transaction on one partition from outside, so that readers go on."""
    sent = await call.body()
    partition = partition_of(sent)
    confirm(sent, str(partition), "abort the transaction on the partition")
    wanted = OpenTransaction(
        partition,
        whole_of(sent, "producer_id"),
        whole_of(sent, "producer_epoch"),
        whole_of(sent, "coordinator_epoch", 0),
    )
    admin = await call.admin()
    producers = (await admin.describe_producers([partition]))[partition]
    if not any(
        each.transaction_start_offset is not None
        and (each.producer_id, each.producer_epoch) == (wanted.producer_id, wanted.producer_epoch)
        for each in producers
    ):
        raise WebError(409, f"producer {wanted.producer_id} has no open transaction on {partition}")
    await admin.abort_transaction(wanted)
    return {"aborted": str(partition)}


async def fence(call: ApiCall) -> object:
    """Abort what is under way, and let no producer that has the id now commit anything more."""
    name = call.path("transaction")
    confirm(await call.body(), name, "fence its producer")
    # An id that is not there would be made by being fenced.
    (await (await call.admin()).describe_transactions(name)).check()
    found = (await (await call.admin()).fence_producers(name))[name]
    return {"producer_id": found.producer_id, "producer_epoch": found.producer_epoch}


async def producers(call: ApiCall) -> object:
    """What the leaders of a topic's partitions remember of producers."""
    admin = await call.admin()
    name = call.path("topic")
    topic = (await admin.describe_topics(name))[name]
    led = [TopicPartition(name, each.partition) for each in topic.partitions if each.leader >= 0]
    found = await admin.describe_producers(led)
    rows: list[dict[str, object]] = [
        {"partition": partition.partition, **_producer(each)}
        for partition, listed in sorted(found.succeeded.items())
        for each in listed
    ]
    errors = [
        {"partition": each.partition, **described(error)} for each, error in found.errors.items()
    ]
    errors += [
        {"partition": each.partition, "error": "LEADER_NOT_AVAILABLE", "message": "no leader"}
        for each in topic.partitions
        if each.leader < 0
    ]
    return {"producers": rows, "errors": errors, "at_ms": _now_ms()}


def _producer(producer: ProducerState) -> dict[str, object]:
    return {
        "producer_id": producer.producer_id,
        "producer_epoch": producer.producer_epoch,
        "coordinator_epoch": producer.coordinator_epoch,
        "last_sequence": producer.last_sequence,
        "last_timestamp": producer.last_timestamp,
        "start_offset": producer.transaction_start_offset,
    }


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


ENDPOINTS = (
    ApiEndpoint("GET", _TRANSACTIONS, Role.VIEWER, "Transactional ids", transactions),
    ApiEndpoint(
        "GET",
        f"{PREFIX}/hanging-transactions",
        Role.VIEWER,
        "Transactions that no coordinator knows",
        hanging,
        query={"minutes": "how old at least; 15 if left out", "topic": "one topic; all without"},
    ),
    ApiEndpoint(
        "POST",
        f"{PREFIX}/hanging-transactions/abort",
        Role.ADMIN,
        "Abort a transaction on one partition",
        abort,
        body={
            "topic": "its topic",
            "partition": "its partition",
            "producer_id": "whose it is",
            "producer_epoch": "the producer's epoch",
            "coordinator_epoch": "the coordinator's epoch",
            "confirm": "topic-partition",
        },
    ),
    ApiEndpoint(
        "GET", f"{_TRANSACTIONS}/{{transaction}}", Role.VIEWER, "A transaction", transaction
    ),
    ApiEndpoint(
        "POST",
        f"{_TRANSACTIONS}/{{transaction}}/fence",
        Role.ADMIN,
        "Abort a transaction, and fence its producer",
        fence,
        body={"confirm": "the transactional id again"},
    ),
    ApiEndpoint(
        "GET",
        f"{PREFIX}/topics/{{topic}}/producers",
        Role.VIEWER,
        "Producers that a topic's partitions remember",
        producers,
    ),
)
