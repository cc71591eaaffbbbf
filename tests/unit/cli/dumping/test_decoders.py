"""What is shown of keys and values."""

import json

import pytest

from moldau.cli.dumping.decoders import (
    DELETED,
    as_group_records,
    as_text,
    as_transactions,
    by_classes,
)
from moldau.cli.terminal.failure import CommandFailed
from unit.cli.record_text.test_stored_messages import (
    GROUP_KEY,
    GROUP_VALUE,
    OFFSET_KEY,
    OFFSET_VALUE,
    TRANSACTION_KEY,
    TRANSACTION_VALUE,
)


def test_text_is_utf_8_or_replaced() -> None:
    assert as_text(b"\xc3\xa9", None) == ("é", None)
    assert as_text(b"\xff", b"v") == ("�", "v")


def test_offsets_and_groups_are_json() -> None:
    key, value = as_group_records(OFFSET_KEY, OFFSET_VALUE)
    assert key == '{"type":"1","data":{"group":"g","topic":"t","partition":3}}'
    assert value is not None
    assert json.loads(value)["version"] == "3"
    assert as_group_records(GROUP_KEY, None) == ('{"type":"2","data":{"group":"g"}}', DELETED)


def test_what_members_say_stays_bytes_if_it_cannot_be_read() -> None:
    _, value = as_group_records(GROUP_KEY, GROUP_VALUE)
    assert value is not None
    assert json.loads(value)["data"]["members"][0]["subscription"] == "AQ=="


def test_other_records_are_named() -> None:
    key, _ = as_group_records(b"\0\x63", b"")
    assert key == "Unknown record type 99 at offset, skipping."
    assert as_group_records(None, b"v") == (None, "v")


def test_transactions_are_shown_as_apache_shows_them() -> None:
    key, value = as_transactions(TRANSACTION_KEY, TRANSACTION_VALUE)
    assert key == "transaction_metadata::transactionalId=x"
    assert value == (
        "producerId:1,producerEpoch:2,state=Ongoing,partitions=[t-0,t-1],"
        "txnLastUpdateTimestamp=5,txnTimeoutMs=3"
    )
    assert as_transactions(TRANSACTION_KEY, None)[1] == DELETED
    assert as_transactions(None, b"v") == (None, "v")


@pytest.mark.parametrize("package", ["kafka.serializer", "org.apache.kafka.tools.api"])
def test_javas_decoders_are_known_by_name(package: str) -> None:
    decode = by_classes(f"{package}.LongDecoder", f"{package}.IntegerDecoder")
    assert decode((-7).to_bytes(8, "big", signed=True), b"\0\0\1\0") == ("-7", "256")
    assert decode(None, None) == (None, None)
    with pytest.raises(CommandFailed, match="a number of 8 bytes is expected"):
        decode(b"x", None)
    assert by_classes(f"{package}.StringDecoder", f"{package}.DefaultDecoder")(b"k", b"v") == (
        "k",
        "v",
    )


@pytest.mark.parametrize("name", ["LongDecoder", "com.example.StringDecoder", "kafka.serializer.X"])
def test_other_decoders_are_named(name: str) -> None:
    with pytest.raises(CommandFailed, match=f"there is no decoder {name}; there is: org"):
        by_classes(name, name)
