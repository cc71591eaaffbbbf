"""Messages that carry their own version: an Int16 before the body.

So are stored the records of `__consumer_offsets` and `__transaction_state`, and so
consumers write what they exchange through JoinGroup and SyncGroup.
"""

import struct
from typing import TypeVar

from moldau.errors import ProtocolError
from moldau.protocol.codec import decode, encode
from moldau.protocol.declaration import facts_of
from moldau.protocol.primitives import Buffer

T = TypeVar("T")

_VERSION = struct.Struct(">h")


def encode_versioned(message: object, version: int) -> bytes:
    """The version, then the message in that version."""
    return _VERSION.pack(version) + encode(message, version)


def version_of(buffer: Buffer) -> int:
    """The version at the start; in keys of stored records it says the kind of record."""
    if len(buffer) < _VERSION.size:
        raise ProtocolError(f"{len(buffer)} bytes where a version was expected")
    version: int = _VERSION.unpack_from(buffer)[0]
    return version


def decode_versioned(cls: type[T], buffer: Buffer, *, newer_is_newest: bool = False) -> T:
    """The message after its version.

    Members of a group may be newer than we are: `newer_is_newest` reads what they say
    as the newest version known here, and ignores the rest.
    """
    version = version_of(buffer)
    versions = facts_of(cls).versions
    if newer_is_newest:
        version = min(version, versions[-1])
    if version not in versions:
        raise ProtocolError(f"{cls.__name__} has no version {version}")
    message, _ = decode(cls, version, buffer, _VERSION.size)
    return message
