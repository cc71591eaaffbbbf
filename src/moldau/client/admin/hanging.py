"""Transactions that hang: open on a partition, and known to no coordinator (KIP-664).

Readers of committed records wait before them for ever, so somebody has to abort them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from moldau.client.admin.connected import Connected
from moldau.client.admin.transactions import OpenTransaction, ProducerState, TransactionsArea
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin
    from moldau.errors import KafkaError

TIMEOUT_MS = 15 * 60_000
"""How long a transaction may be open unless `transaction.max.timeout.ms` is set."""


class HangingAdmin(TransactionsArea, Connected):
    """What a search for them needs of an admin client."""


Searching = Union[HangingAdmin, "Admin"]


@dataclass(frozen=True, slots=True)
class HangingTransaction:
    """One of them, on one partition."""

    partition: TopicPartition
    producer: ProducerState
    age_ms: int

    @property
    def as_open(self) -> OpenTransaction:
        """What aborts it."""
        return open_transaction(self.partition, self.producer)


def open_transaction(partition: TopicPartition, producer: ProducerState) -> OpenTransaction:
    """The transaction that a producer has open on a partition, as abort_transaction takes it."""
    epoch = -1 if producer.coordinator_epoch is None else producer.coordinator_epoch
    return OpenTransaction(partition, producer.producer_id, producer.producer_epoch, max(epoch, 0))


async def find_hanging(
    admin: Searching, partitions: Iterable[TopicPartition], *, now_ms: int, older_ms: int
) -> "tuple[list[HangingTransaction], dict[TopicPartition, KafkaError]]":
    """Open transactions older than any may be, that no coordinator knows; and who did not answer.

    Partitions are asked after the coordinators: what begins in between is too young.
    """
    listed = await admin.list_transactions()
    described = await admin.describe_transactions([each.transactional_id for each in listed])
    known = {
        (each.producer_id, partition)
        for each in described.succeeded.values()
        for partition in each.partitions
    }
    found = await admin.describe_producers(partitions)
    hanging = [
        HangingTransaction(partition, each, now_ms - each.last_timestamp)
        for partition, producers in found.succeeded.items()
        for each in producers
        if each.transaction_start_offset is not None
        and now_ms - each.last_timestamp > older_ms
        and (each.producer_id, partition) not in known
    ]
    return hanging, found.errors
