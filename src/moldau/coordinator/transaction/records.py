"""The records of `__transaction_state`: key version 0, value version 0; null deletes."""

from typing import NamedTuple

from moldau.coordinator.transaction.state import TransactionState
from moldau.coordinator.transaction.transaction import Transaction
from moldau.errors import ProtocolError
from moldau.model import TopicPartition
from moldau.protocol.messages.transaction_topic import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from moldau.protocol.versioned import decode_versioned, encode_versioned, version_of

KEY_VERSION = 0
VALUE_VERSION = 0

_STORED_STATES = range(TransactionState.EMPTY, TransactionState.DEAD)


class TransactionRecord(NamedTuple):
    """A transactional id is stored, or deleted (None)."""

    transactional_id: str
    transaction: Transaction | None


def encode(record: TransactionRecord) -> tuple[bytes, bytes | None]:
    """Key and value."""
    key = encode_versioned(TransactionLogKey(transactional_id=record.transactional_id), KEY_VERSION)
    transaction = record.transaction
    if transaction is None:
        return key, None
    assert transaction.state in _STORED_STATES
    is_empty = transaction.state is TransactionState.EMPTY
    assert not (is_empty and transaction.partitions)
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        producer_epoch=transaction.epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state,
        transaction_partitions=None if is_empty else _by_topic(transaction),
        transaction_last_update_timestamp_ms=transaction.update_timestamp,
        transaction_start_timestamp_ms=transaction.start_timestamp,
    )
    return key, encode_versioned(value, VALUE_VERSION)


def decode(key: bytes, value: bytes | None) -> TransactionRecord | None:
    """The record, or None for one of a kind that is not known."""
    if version_of(key) != KEY_VERSION:
        return None
    transactional_id = decode_versioned(TransactionLogKey, key).transactional_id
    if value is None:
        return TransactionRecord(transactional_id, None)
    stored = decode_versioned(TransactionLogValue, value)
    if stored.transaction_status not in _STORED_STATES:
        raise ProtocolError(f"{transactional_id} is in state {stored.transaction_status}")
    partitions = [
        TopicPartition(each.topic, number)
        for each in stored.transaction_partitions or ()
        for number in each.partition_ids
    ]
    transaction = Transaction(
        producer_id=stored.producer_id,
        epoch=stored.producer_epoch,
        timeout_ms=stored.transaction_timeout_ms,
        state=TransactionState(stored.transaction_status),
        partitions=dict.fromkeys(partitions),
        start_timestamp=stored.transaction_start_timestamp_ms,
        update_timestamp=stored.transaction_last_update_timestamp_ms,
    )
    return TransactionRecord(transactional_id, transaction)


def _by_topic(transaction: Transaction) -> list[PartitionsSchema]:
    topics: dict[str, list[int]] = {}
    for topic, number in transaction.partitions:
        topics.setdefault(topic, []).append(number)
    return [
        PartitionsSchema(topic=topic, partition_ids=numbers) for topic, numbers in topics.items()
    ]
