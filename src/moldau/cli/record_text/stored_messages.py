"""Records of the brokers' own topics as JSON values, named as Kafka's definitions name them."""

import base64
from dataclasses import dataclass

from moldau.protocol.messages.offsets_topic import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from moldau.protocol.messages.transaction_topic import TransactionLogKey, TransactionLogValue
from moldau.protocol.schema import fields_of
from moldau.protocol.versioned import decode_versioned, version_of

_OFFSET_VERSIONS = (0, 1)
_GROUP_VERSION = 2
_TRANSACTION_VERSION = 0


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A key or a value, and the version in which it is stored."""

    version: int
    message: object

    def as_data(self) -> dict[str, object]:
        """Its fields for JSON."""
        return _fields(self.message, self.version)


def read_offset_key(key: bytes) -> StoredMessage | None:
    """The key of an offset; None if the record is of another kind."""
    return _read(OffsetCommitKey, key) if version_of(key) in _OFFSET_VERSIONS else None


def read_offset_value(value: bytes) -> StoredMessage:
    """What was committed."""
    return _read(OffsetCommitValue, value)


def read_group_key(key: bytes) -> StoredMessage | None:
    """The key of a classic group; None if the record is of another kind."""
    return _read(GroupMetadataKey, key) if version_of(key) == _GROUP_VERSION else None


def read_group_value(value: bytes) -> StoredMessage:
    """A generation of a group."""
    return _read(GroupMetadataValue, value)


def read_transaction_key(key: bytes) -> StoredMessage | None:
    """The key of a transactional id."""
    return _read(TransactionLogKey, key) if version_of(key) == _TRANSACTION_VERSION else None


def read_transaction_value(value: bytes) -> StoredMessage:
    """The state of a transaction."""
    return _read(TransactionLogValue, value)


def _read(kind: type, data: bytes) -> StoredMessage:
    return StoredMessage(version_of(data), decode_versioned(kind, data))


def _fields(message: object, version: int) -> dict[str, object]:
    return {
        _camel_case(field.name): _value(getattr(message, field.name), version)
        for field in fields_of(type(message))
        if field.is_in(version)
    }


def _value(value: object, version: int) -> object:
    if isinstance(value, list | tuple):
        return [_value(each, version) for each in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    if value is None or isinstance(value, str | int | float):
        return value
    return _fields(value, version)


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
