"""Transactions of others, and such as nobody began."""

import pytest

from conformance.hostile.requests import TOPIC
from moldau.errors import ErrorCode
from moldau.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from moldau.protocol.messages.end_txn import EndTxnRequest
from moldau.protocol.messages.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.init_producer_id import InitProducerIdRequest
from moldau.testing.wire import WireClient

TRANSACTION = 1


@pytest.fixture(autouse=True)
def coordinator(client: WireClient, witness: None, bounds: None) -> None:
    """The transactions' topic is there: its making is no growth of the case."""
    request = FindCoordinatorRequest(coordinator_keys=["mine"], key_type=TRANSACTION)
    while client.ask(request, 4).coordinators[0].error_code:
        pass


def init(transactional_id: str | None, timeout_ms: int = 10_000) -> InitProducerIdRequest:
    return InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=timeout_ms
    )


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (init("mine", 900_001), ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        (init("mine", 0), ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        (init("mine", -1), ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        (init(""), ErrorCode.INVALID_REQUEST),
    ],
)
def test_who_may_not_begin_is_told_why(
    client: WireClient, request_: InitProducerIdRequest, code: ErrorCode
) -> None:
    assert client.ask(request_, 4).error_code == code


def test_a_transaction_of_another_is_left_alone(client: WireClient) -> None:
    mine = client.ask(init("mine"), 4)
    assert mine.error_code == ErrorCode.NONE

    def end(producer_id: int, epoch: int) -> int:
        request = EndTxnRequest(
            transactional_id="mine", producer_id=producer_id, producer_epoch=epoch, committed=True
        )
        code: int = client.ask(request, 3).error_code
        return code

    def add(producer_id: int, epoch: int) -> int:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="mine",
            v3_and_below_producer_id=producer_id,
            v3_and_below_producer_epoch=epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=TOPIC, partitions=[0])],
        )
        response = client.ask(request, 3)
        results = response.results_by_topic_v3_and_below
        code: int = results[0].results_by_partition[0].partition_error_code
        return code

    for ask in (end, add):
        foreign = ask(mine.producer_id + 1, mine.producer_epoch)
        assert foreign == ErrorCode.INVALID_PRODUCER_ID_MAPPING
        old = ask(mine.producer_id, mine.producer_epoch - 1)
        assert old in (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH)
    # Nothing of it has begun a transaction: there is none to end.
    assert end(mine.producer_id, mine.producer_epoch) == ErrorCode.INVALID_TXN_STATE


def test_a_transaction_that_nobody_knows_cannot_be_ended(client: WireClient) -> None:
    request = EndTxnRequest(
        transactional_id="unknown", producer_id=5, producer_epoch=0, committed=False
    )
    assert client.ask(request, 3).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
