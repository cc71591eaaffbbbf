"""What is shown of keys and values: their text, or what the brokers' own topics mean by them."""

import json
from collections.abc import Callable

from moldau.cli.record_text.stored_messages import (
    StoredMessage,
    read_group_key,
    read_group_value,
    read_offset_key,
    read_offset_value,
)
from moldau.cli.terminal.failure import CommandFailed
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


def by_classes(key_class: str, value_class: str) -> Decoder:
    """What Java's decoders of these names would show."""
    read_key, read_value = _reader(key_class), _reader(value_class)
    return lambda key, value: (
        None if key is None else read_key(key),
        None if value is None else read_value(value),
    )


def _reader(name: str) -> Callable[[bytes], str]:
    package, _, short = name.rpartition(".")
    if package not in _PACKAGES or short not in _READERS:
        known = ", ".join(f"{_PACKAGES[-1]}.{each}" for each in _READERS)
        raise CommandFailed(f"there is no decoder {name}; there is: {known}")
    return _READERS[short]


def _number(size: int) -> Callable[[bytes], str]:
    def read(data: bytes) -> str:
        if len(data) < size:
            raise CommandFailed(f"a number of {size} bytes is expected, not {data!r}")
        return str(int.from_bytes(data[:size], "big", signed=True))

    return read


def _utf_8(data: bytes) -> str:
    return data.decode(errors="replace")


_PACKAGES = ("kafka.serializer", "org.apache.kafka.tools.api")
_READERS: dict[str, Callable[[bytes], str]] = {
    "StringDecoder": _utf_8,
    "DefaultDecoder": _utf_8,
    "LongDecoder": _number(8),
    "IntegerDecoder": _number(4),
}


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
    """What consumers send one another; bytes that are none of that stay as they are."""
    try:
        message: object = decode_versioned(kind, data, newer_is_newest=True)
    except ProtocolError:
        return shown
    return StoredMessage(version_of(data), message).as_data()


def _json(data: dict[str, object]) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")


DECODERS: dict[str, Decoder] = {
    "offsets-decoder": as_group_records,
    "transaction-log-decoder": as_transactions,
}
