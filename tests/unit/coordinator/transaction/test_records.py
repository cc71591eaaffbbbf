"""The records of `__transaction_state`."""

import pytest

from moldau.coordinator.transaction.records import TransactionRecord, decode, encode
from moldau.coordinator.transaction.state import TransactionState
from moldau.coordinator.transaction.transaction import Transaction
from moldau.errors import ProtocolError
from moldau.model import TopicPartition

OPEN = Transaction(
    producer_id=7,
    epoch=2,
    timeout_ms=60_000,
    state=TransactionState.ONGOING,
    partitions=dict.fromkeys(
        [TopicPartition("t", 0), TopicPartition("u", 1), TopicPartition("t", 2)]
    ),
    start_timestamp=100,
    update_timestamp=200,
)
EMPTY = Transaction(producer_id=7, epoch=2, timeout_ms=60_000, update_timestamp=200)


@pytest.mark.parametrize("transaction", [OPEN, EMPTY, None])
def test_what_is_written_is_read_back(transaction: Transaction | None) -> None:
    record = TransactionRecord("tx", transaction)
    assert decode(*encode(record)) == record


def test_the_bytes_are_those_of_kafka() -> None:
    key, value = encode(TransactionRecord("tx", OPEN))
    assert key == bytes.fromhex("0000 0002 7478")
    assert value == bytes.fromhex(
        "0000 0000000000000007 0002 0000ea60 01"
        "00000002 0001 74 00000002 00000000 00000002 0001 75 00000001 00000001"
        "00000000000000c8 0000000000000064"
    )


def test_an_empty_transaction_has_no_list_of_partitions() -> None:
    _, value = encode(TransactionRecord("tx", EMPTY))
    assert value is not None
    assert value[17:21] == b"\xff\xff\xff\xff"


def test_a_key_of_another_kind_is_skipped() -> None:
    assert decode(b"\0\1\0\2tx", None) is None


@pytest.mark.parametrize("state", [-1, 6, 7, 8])
def test_states_that_are_never_stored_are_refused(state: int) -> None:
    key, value = encode(TransactionRecord("tx", EMPTY))
    assert value is not None
    damaged = value[:16] + state.to_bytes(1, "big", signed=True) + value[17:]
    with pytest.raises(ProtocolError):
        decode(key, damaged)


def test_a_record_that_is_cut_off_is_refused() -> None:
    key, value = encode(TransactionRecord("tx", OPEN))
    assert value is not None
    with pytest.raises(ProtocolError):
        decode(key, value[:-1])
    with pytest.raises(ProtocolError):
        decode(key[:1], None)
