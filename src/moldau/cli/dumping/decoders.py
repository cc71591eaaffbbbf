"""What is shown of keys and values: their text, or what the brokers' own topics mean by them."""

import json
from collections.abc import Callable, Sequence

from moldau.cli.console.stored_messages import (
    StoredMessage,
    read_group_key,
    read_group_value,
    read_offset_key,
    read_offset_value,
)
from moldau.coordinator.transaction import records as transaction_records
from moldau.errors import ProtocolError
from moldau.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from moldau.protocol.messages.offsets_topic import GroupMetadataValue
from moldau.protocol.versioned import decode_versioned, version_of

Shown = tuple[str | None, str | None]
Decoder = Callable[[bytes | None, bytes | None], Shown]
DELETED = "<DELETE>"


def as_text(key: bytes | None, value: bytes | None) -> Shown:
    """Both as UTF-8; what is not is replaced."""
    return _text(key), _text(value)


def as_group_records(key: bytes | None, value: bytes | None) -> Shown:
    """Offsets and groups of `__consumer_offsets`, as JSON."""
    if key is None:
        return None, _text(value)
    found = read_offset_key(key)
    read_value = read_offset_value
    if found is None:
        found, read_value = read_group_key(key), read_group_value
    if found is None:
        return f"Unknown record type {version_of(key)} at offset, skipping.", None
    shown = _json({"type": str(found.version), "data": found.as_data()})
    return shown, DELETED if value is None else _stored(read_value(value))


def as_transactions(key: bytes | None, value: bytes | None) -> Shown:
    """Transactions of `__transaction_state`."""
    record = None if key is None else transaction_records.decode(key, value)
    if record is None:
        return _text(key), _text(value)
    shown = f"transaction_metadata::transactionalId={record.transactional_id}"
    found = record.transaction
    if found is None:
        return shown, DELETED
    partitions = ",".join(map(str, found.partitions))
    return shown, (
        f"producerId:{found.producer_id},producerEpoch:{found.epoch},"
        f"state={found.state.label},partitions=[{partitions}],"
        f"txnLastUpdateTimestamp={found.update_timestamp},txnTimeoutMs={found.timeout_ms}"
    )


def _stored(value: StoredMessage) -> str:
    data = value.as_data()
    if isinstance(value.message, GroupMetadataValue):
        members = data["members"]
        assert isinstance(members, list)
        is_consumer = value.message.protocol_type == "consumer"
        for shown, member in zip(members, value.message.members, strict=True):
            if is_consumer:
                shown["subscription"] = _member_data(
                    ConsumerProtocolSubscription, member.subscription, shown["subscription"]
                )
                shown["assignment"] = _member_data(
                    ConsumerProtocolAssignment, member.assignment, shown["assignment"]
                )
    return _json({"version": str(value.version), "data": data})


def _member_data(kind: type, data: bytes, shown: object) -> object:
    """What consumers tell one another; bytes that are none of that stay as they are."""
    try:
        message: object = decode_versioned(kind, data, newer_is_newest=True)
    except ProtocolError:
        return shown
    return StoredMessage(version_of(data), message).as_data()


def _json(data: dict[str, object]) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")


DECODERS: Sequence[tuple[str, Decoder]] = (
    ("offsets-decoder", as_group_records),
    ("transaction-log-decoder", as_transactions),
)
