"""The formatters of `__consumer_offsets` and `__transaction_state`."""

import json

import pytest

from moldau.cli.record_text.internal_topics import find_internal_formatter
from moldau.client.record import ConsumerRecord
from unit.cli.record_text.test_stored_messages import (
    GROUP_KEY,
    GROUP_VALUE,
    OFFSET_KEY,
    OFFSET_VALUE,
    TRANSACTION_KEY,
    TRANSACTION_VALUE,
)

OLD = "kafka.coordinator.group.GroupMetadataManager$"


def written(name: str, key: bytes | None, value: bytes | None) -> str:
    formatter = find_internal_formatter(name)
    assert formatter is not None
    return formatter.write([ConsumerRecord("t", 0, 0, 0, key, value)]).decode()


def test_newer_formatters_print_json() -> None:
    for name, key, value in (
        ("OffsetsMessageFormatter", OFFSET_KEY, OFFSET_VALUE),
        ("GroupMetadataMessageFormatter", GROUP_KEY, GROUP_VALUE),
        ("TransactionLogMessageFormatter", TRANSACTION_KEY, TRANSACTION_VALUE),
    ):
        found = json.loads(written(name, key, value))
        assert set(found) == {"key", "value"}
        assert json.loads(written(name, key, None))["value"] is None


def test_older_formatters_print_what_they_printed() -> None:
    assert written(f"{OLD}OffsetsMessageFormatter", OFFSET_KEY, OFFSET_VALUE) == (
        "[g,t,3]::OffsetAndMetadata(offset=7, leaderEpoch=Optional[2], metadata=m, "
        "commitTimestamp=9, expireTimestamp=None)\n"
    )
    assert written(f"{OLD}GroupMetadataMessageFormatter", GROUP_KEY, GROUP_VALUE) == (
        "g::GroupMetadata(groupId=g, generation=4, protocolType=Some(consumer), "
        "currentState=Stable, members=HashMap(m -> MemberMetadata(memberId=m, "
        "groupInstanceId=None, clientId=c, clientHost=/h, sessionTimeoutMs=1, "
        "rebalanceTimeoutMs=2, supportedProtocols=List(range))))\n"
    )
    name = "kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter"
    assert written(name, TRANSACTION_KEY, TRANSACTION_VALUE) == (
        "x::TransactionMetadata(transactionalId=x, producerId=1, producerEpoch=2, txnTimeoutMs=3, "
        "state=Ongoing, pendingState=None, topicPartitions=HashSet(t-0, t-1), "
        "txnStartTimestamp=4, txnLastUpdateTimestamp=5)\n"
    )
    assert written(name, TRANSACTION_KEY, None) == "x::null\n"


@pytest.mark.parametrize("kind", ["OffsetsMessageFormatter", "GroupMetadataMessageFormatter"])
def test_a_deletion_is_a_null(kind: str) -> None:
    key = OFFSET_KEY if kind.startswith("Offsets") else GROUP_KEY
    assert written(f"{OLD}{kind}", key, None).endswith("::null\n")


def test_records_of_other_kinds_are_passed_over() -> None:
    assert written("OffsetsMessageFormatter", GROUP_KEY, GROUP_VALUE) == ""
    assert written("OffsetsMessageFormatter", None, b"") == ""
    assert find_internal_formatter("SomethingElse") is None
