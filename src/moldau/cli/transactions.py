"""List, describe and abort transactions (kafka-transactions.sh)."""

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Given,
    Option,
    Options,
)
from moldau.client.admin.hanging import (
    TIMEOUT_MS,
    HangingAdmin,
    find_hanging,
    open_transaction,
)
from moldau.client.admin.topics import TopicsArea
from moldau.client.admin.transactions import OpenTransaction, ProducerState
from moldau.errors import KafkaError
from moldau.model import TopicPartition

_MINUTE_MS = 60_000
_TIMEOUT_MINUTES = TIMEOUT_MS // _MINUTE_MS

OPTIONS = Options(
    "transactions",
    "Lists, describes and aborts transactions.",
    BOOTSTRAP_SERVER,
    replace(COMMAND_CONFIG, aliases=("c",)),
    FORMAT,
    Option("transactional-id", "The id to describe.", "ID"),
    Option("topic", "The topic of the partition.", "TOPIC"),
    Option("partition", "The partition.", "NUMBER", kind=int),
    Option("broker-id", "Only this broker.", "NUMBER", kind=int),
    Option("start-offset", "The first offset of the transaction to abort.", "OFFSET", kind=int),
    Option("producer-id", "The producer of the transaction to abort.", "ID", kind=int),
    Option("producer-epoch", "The producer's epoch.", "EPOCH", kind=int),
    Option("coordinator-epoch", "The coordinator's epoch.", "EPOCH", kind=int),
    Option(
        "duration-filter", "Only transactions that are open for longer.", "MILLISECONDS", kind=int
    ),
    Option("max-transaction-timeout", "What the brokers allow, in minutes.", "MINUTES", kind=int),
    arguments="list|describe|describe-producers|abort|find-hanging",
    takes_abbreviations=True,
)

Rows = list[list[object]]


class TransactionAdmin(TopicsArea, HangingAdmin):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    if len(given.rest) != 1 or given.rest[0] not in _COMMANDS:
        names = ", ".join(_COMMANDS)
        raise CommandFailed(f"kafka-transactions.sh: error: one of {names} is expected")
    given.require("bootstrap-server")
    titles, work = _COMMANDS[given.rest[0]]
    rows = run_admin(given, TransactionAdmin, lambda admin: work(admin, given))
    if given.is_json:
        print(json.dumps([dict(zip(titles, row, strict=True)) for row in rows]))
    elif titles:
        print("\n".join(table(titles, rows)))
    return 0


def table(titles: Sequence[str], rows: Rows) -> list[str]:
    """Columns padded to their widest cell, each followed by a tab."""
    cells = [list(titles), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(titles))]
    return [
        "".join(f"{cell:{width}}\t" for cell, width in zip(row, widths, strict=True))
        for row in cells
    ]


async def _list(admin: TransactionAdmin, given: Given) -> Rows:
    shortest = given.number("duration-filter") if "duration-filter" in given else None
    return [
        [each.transactional_id, each.coordinator, each.producer_id, each.state]
        for each in await admin.list_transactions(duration_min_ms=shortest)
    ]


async def _describe(admin: TransactionAdmin, given: Given) -> Rows:
    given.require("transactional-id")
    name = given.text("transactional-id")
    try:
        found = (await admin.describe_transactions(name))[name]
    except KafkaError as error:
        raise CommandFailed(
            f"Failed to describe transaction state of transactional-id `{name}`: {error}"
        ) from error
    duration: object = "None"
    if found.start_ms is not None:
        duration = int(time.time() * 1000) - found.start_ms
    return [
        [
            found.coordinator,
            name,
            found.producer_id,
            found.producer_epoch,
            found.state,
            found.timeout_ms,
            "None" if found.start_ms is None else found.start_ms,
            duration,
            ",".join(map(str, sorted(found.partitions))),
        ]
    ]


async def _describe_producers(admin: TransactionAdmin, given: Given) -> Rows:
    return [
        [
            each.producer_id,
            each.producer_epoch,
            _epoch(each),
            each.last_sequence,
            each.last_timestamp,
            "None" if each.transaction_start_offset is None else each.transaction_start_offset,
        ]
        for each in await _producers(admin, _partition(given))
    ]


async def _abort(admin: TransactionAdmin, given: Given) -> Rows:
    partition = _partition(given)
    if "start-offset" in given:
        start = given.number("start-offset")
        found = [
            each
            for each in await _producers(admin, partition)
            if each.transaction_start_offset == start
        ]
        if not found:
            raise CommandFailed(
                f"Could not find any open transactions starting at offset {start} "
                f"on partition {partition}"
            )
        (producer,) = found
        wanted = open_transaction(partition, producer)
    else:
        given.require("producer-id", "producer-epoch", "coordinator-epoch")
        wanted = OpenTransaction(
            partition,
            given.number("producer-id"),
            given.number("producer-epoch"),
            max(given.number("coordinator-epoch"), 0),
        )
    await admin.abort_transaction(wanted)
    return []


async def _find_hanging(admin: TransactionAdmin, given: Given) -> Rows:
    limit_minutes = given.number("max-transaction-timeout", _TIMEOUT_MINUTES)
    partitions = await _led_partitions(admin, given)
    found, errors = await find_hanging(
        admin, partitions, now_ms=int(time.time() * 1000), older_ms=limit_minutes * _MINUTE_MS
    )
    for error in errors.values():
        raise error
    return [
        [
            each.partition.topic,
            each.partition.partition,
            each.producer.producer_id,
            each.producer.producer_epoch,
            _epoch(each.producer),
            each.producer.transaction_start_offset,
            each.producer.last_timestamp,
            each.age_ms // _MINUTE_MS,
        ]
        for each in found
    ]


def _epoch(producer: ProducerState) -> int:
    return -1 if producer.coordinator_epoch is None else producer.coordinator_epoch


async def _led_partitions(admin: TransactionAdmin, given: Given) -> list[TopicPartition]:
    if "topic" not in given and "broker-id" not in given:
        raise CommandFailed("find-hanging needs either a `--broker-id` or a `--topic`")
    topics = given.texts("topic") or list(await admin.list_topics(include_internal=True))
    described = (await admin.describe_topics(topics)).succeeded
    return [
        TopicPartition(topic.name, each.partition)
        for topic in described.values()
        for each in topic.partitions
        if given.number("broker-id", each.leader) == each.leader
        and given.number("partition", each.partition) == each.partition
    ]


async def _producers(admin: TransactionAdmin, partition: TopicPartition) -> list[ProducerState]:
    return (await admin.describe_producers([partition]))[partition]


def _partition(given: Given) -> TopicPartition:
    given.require("topic", "partition")
    return TopicPartition(given.text("topic"), given.number("partition"))


_COMMANDS: dict[str, tuple[list[str], Callable[[TransactionAdmin, Given], Awaitable[Rows]]]] = {
    "list": (["TransactionalId", "Coordinator", "ProducerId", "TransactionState"], _list),
    "describe": (
        [
            "CoordinatorId",
            "TransactionalId",
            "ProducerId",
            "ProducerEpoch",
            "TransactionState",
            "TransactionTimeoutMs",
            "CurrentTransactionStartTimeMs",
            "TransactionDurationMs",
            "TopicPartitions",
        ],
        _describe,
    ),
    "describe-producers": (
        [
            "ProducerId",
            "ProducerEpoch",
            "LatestCoordinatorEpoch",
            "LastSequence",
            "LastTimestamp",
            "CurrentTransactionStartOffset",
        ],
        _describe_producers,
    ),
    "abort": ([], _abort),
    "find-hanging": (
        [
            "Topic",
            "Partition",
            "ProducerId",
            "ProducerEpoch",
            "CoordinatorEpoch",
            "StartOffset",
            "LastTimestamp",
            "Duration(min)",
        ],
        _find_hanging,
    ),
}
