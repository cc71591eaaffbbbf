"""Records of the brokers' own topics as JSON values."""

from moldau.cli.record_text.stored_messages import (
    read_group_key,
    read_group_value,
    read_offset_key,
    read_offset_value,
    read_transaction_key,
    read_transaction_value,
)
from moldau.protocol.messages.offsets_topic import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from moldau.protocol.messages.transaction_topic import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from moldau.protocol.versioned import encode_versioned

OFFSET_KEY = encode_versioned(OffsetCommitKey(group="g", topic="t", partition=3), 1)
OFFSET_VALUE = encode_versioned(
    OffsetCommitValue(offset=7, leader_epoch=2, metadata="m", commit_timestamp=9), 3
)
GROUP_KEY = encode_versioned(GroupMetadataKey(group="g"), 2)
MEMBER = MemberMetadata(
    member_id="m",
    client_id="c",
    client_host="/h",
    session_timeout=1,
    rebalance_timeout=2,
    subscription=b"\1",
    assignment=b"\2",
)
GROUP_VALUE = encode_versioned(
    GroupMetadataValue(
        protocol_type="consumer",
        generation=4,
        protocol="range",
        leader="m",
        current_state_timestamp=5,
        members=[MEMBER],
    ),
    3,
)
TRANSACTION_KEY = encode_versioned(TransactionLogKey(transactional_id="x"), 0)
TRANSACTION_VALUE = encode_versioned(
    TransactionLogValue(
        producer_id=1,
        producer_epoch=2,
        transaction_timeout_ms=3,
        transaction_status=1,
        transaction_partitions=[PartitionsSchema(topic="t", partition_ids=[0, 1])],
        transaction_last_update_timestamp_ms=5,
        transaction_start_timestamp_ms=4,
    ),
    0,
)


def test_fields_have_the_names_of_kafkas_definitions() -> None:
    key = read_offset_key(OFFSET_KEY)
    assert key is not None
    assert (key.version, key.as_data()) == (1, {"group": "g", "topic": "t", "partition": 3})
    assert read_offset_value(OFFSET_VALUE).as_data() == {
        "offset": 7,
        "leaderEpoch": 2,
        "metadata": "m",
        "commitTimestamp": 9,
    }


def test_lists_and_bytes_are_json_too() -> None:
    group = read_group_value(GROUP_VALUE).as_data()
    assert group["members"] == [
        {
            "memberId": "m",
            "groupInstanceId": None,
            "clientId": "c",
            "clientHost": "/h",
            "rebalanceTimeout": 2,
            "sessionTimeout": 1,
            "subscription": "AQ==",
            "assignment": "Ag==",
        }
    ]
    transaction = read_transaction_value(TRANSACTION_VALUE).as_data()
    assert transaction["transactionPartitions"] == [{"topic": "t", "partitionIds": [0, 1]}]


def test_each_reader_knows_its_own_kind() -> None:
    assert read_offset_key(GROUP_KEY) is None
    assert read_group_key(OFFSET_KEY) is None
    assert read_group_key(GROUP_KEY) is not None
    assert read_transaction_key(OFFSET_KEY) is None
    assert read_transaction_key(TRANSACTION_KEY) is not None
