"""Records of MirrorMaker's own topics, byte for byte: offset syncs, checkpoints, heartbeats."""

import struct
from dataclasses import dataclass

from moldau.errors import ProtocolError
from moldau.model import TopicPartition

VERSION = 0
_LENGTH, _NUMBER = struct.Struct(">h"), struct.Struct(">i")
_PAIR, _CHECKPOINT, _HEARTBEAT = struct.Struct(">qq"), struct.Struct(">hqq"), struct.Struct(">hq")


@dataclass(frozen=True, slots=True)
class OffsetSync:
    """The last of `count` records that follow each other in both clusters, and where it is.

    MirrorMaker knows no count and says one: its readers see the last record alone.
    """

    partition: TopicPartition
    source: int
    target: int
    count: int = 1

    def key(self) -> bytes:
        """Later syncs of the partition take the place of earlier ones, some time."""
        return _text(self.partition.topic) + _NUMBER.pack(self.partition.partition)

    def value(self) -> bytes:
        """What MirrorMaker reads."""
        return _PAIR.pack(self.source, self.target)

    def headers(self) -> tuple[tuple[str, bytes], ...]:
        """What it passes over."""
        return ((_COUNT_HEADER, str(self.count).encode()),) if self.count > 1 else ()

    @classmethod
    def decoded(
        cls, key: bytes, value: bytes, headers: tuple[tuple[str, bytes | None], ...] = ()
    ) -> "OffsetSync":
        """ProtocolError if it is none."""
        topic, position = _read_text(key, 0)
        try:
            (partition,) = _NUMBER.unpack_from(key, position)
            source, target = _PAIR.unpack_from(value)
        except struct.error as error:
            raise ProtocolError(f"no offset sync: {error}") from error
        count = dict(headers).get(_COUNT_HEADER) or b"1"
        known = int(count) if count.isdigit() else 1
        return cls(TopicPartition(topic, partition), source, target, max(known, 1))


_COUNT_HEADER = "moldau.records"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far a group is in the source, and what that is in the target."""

    group: str
    partition: TopicPartition
    """At the target."""
    source: int
    target: int
    metadata: str = ""

    def key(self) -> bytes:
        """The group and the partition."""
        topic, partition = self.partition
        return _text(self.group) + _text(topic) + _NUMBER.pack(partition)

    def value(self) -> bytes:
        """With the version of the layout."""
        return _CHECKPOINT.pack(VERSION, self.source, self.target) + _text(self.metadata)

    @classmethod
    def decoded(cls, key: bytes, value: bytes) -> "Checkpoint":
        """ProtocolError if it is none."""
        group, position = _read_text(key, 0)
        topic, position = _read_text(key, position)
        try:
            (partition,) = _NUMBER.unpack_from(key, position)
            version, source, target = _CHECKPOINT.unpack_from(value)
        except struct.error as error:
            raise ProtocolError(f"no checkpoint: {error}") from error
        if version != VERSION:
            raise ProtocolError(f"a checkpoint of version {version} is not known")
        metadata, _ = _read_text(value, _CHECKPOINT.size)
        return cls(group, TopicPartition(topic, partition), source, target, metadata)


def heartbeat(source_alias: str, target_alias: str, now_ms: int) -> tuple[bytes, bytes]:
    """Key and value of a record that says that a mirror is at work."""
    return _text(source_alias) + _text(target_alias), _HEARTBEAT.pack(VERSION, now_ms)


def _text(text: str) -> bytes:
    data = text.encode()
    return _LENGTH.pack(len(data)) + data


def _read_text(data: bytes, position: int) -> tuple[str, int]:
    try:
        (length,) = _LENGTH.unpack_from(data, position)
        start = position + _LENGTH.size
        if length < 0 or start + length > len(data):
            raise ProtocolError(f"a text of {length} bytes does not fit")
        return data[start : start + length].decode(), start + length
    except (struct.error, UnicodeDecodeError) as error:
        raise ProtocolError(f"no text: {error}") from error
