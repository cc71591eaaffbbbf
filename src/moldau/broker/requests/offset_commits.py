"""An OffsetCommit request: which of its offsets are taken, and storing them.

Handler and fast path both read a request into an `OffsetCommit`, and write what it comes to.
This file runs as it stands and is also compiled as `_offset_commits`; `_offset_commits.pxd` then
gives its variables C types.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.coordinator.group.messages import Committed, MemberIdentity
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.security.acls import Operation, ResourceType

if not cython.compiled:
    from moldau.records.memory import item

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.context import Client

UNSAID = -1
# Half of what calling a class of named tuples takes: it is called for every offset.
_new = tuple.__new__
_NONE: Mapping[int, object] = {}
_TIMESTAMP_MAX = 2**63 - 1

Offsets = Mapping[TopicPartition, Committed]
Errors = dict[TopicPartition, ErrorCode]


class OffsetCommit:
    """The offsets of one request, and the errors of those that are not stored."""

    __slots__ = (
        "_broker", "_denied", "_expire_timestamp", "_group_id", "_identity", "_now_ms",
        "_partitions", "_topic", "_topics", "client", "errors", "offsets",
    )  # fmt: skip

    def __init__(
        self,
        broker: "Broker",
        client: "Client",
        group_id: str,
        identity: MemberIdentity,
        retention_ms: int = UNSAID,
    ) -> None:
        """Raises the error that refuses the whole request."""
        self.client = client
        self.offsets: dict[TopicPartition, Committed] = {}
        self.errors: Errors = {}
        self._broker = broker
        # Whether a topic may not be read, as far as that was asked; None if everyone may.
        self._denied: dict[str, bool] | None = None
        if broker.authorizer.is_enforcing:
            self._denied = {}
            broker.authorizer.require(self, Operation.READ, ResourceType.GROUP, group_id)
        self._group_id = group_id
        self._identity = identity
        self._topics = broker.metadata.image.topics
        self._topic: str | None = None
        self._partitions: Mapping[int, object] = _NONE
        self._now_ms = now_ms = broker.clock.now_ms()
        self._expire_timestamp = UNSAID
        if retention_ms != UNSAID:
            self._expire_timestamp = min(now_ms + retention_ms, _TIMESTAMP_MAX)

    def add(
        self,
        partition: TopicPartition,
        offset: int,
        leader_epoch: int,
        metadata: str | None,
        timestamp: int = UNSAID,
    ) -> None:
        """Take in an offset."""
        if self._denied is not None and self._is_denied(partition[0], self._denied):
            self.errors[partition] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            return
        if item(partition, 0) is not self._topic:  # most requests have one after the other
            self._topic = item(partition, 0)
            known = self._topics.get(self._topic)
            self._partitions = _NONE if known is None else known.partitions
        if item(partition, 1) not in self._partitions:
            self.errors[partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            return
        if timestamp == UNSAID:
            timestamp = self._now_ms
        fields = offset, leader_epoch, metadata or "", timestamp, self._expire_timestamp, UNSAID
        self.offsets[partition] = _new(Committed, fields)

    @property
    def api_name(self) -> str:
        """For the audit log."""
        return "OffsetCommit"

    def _is_denied(self, topic: str, known: dict[str, bool]) -> bool:
        if topic not in known:
            may = self._broker.authorizer.may
            known[topic] = not may(self, Operation.READ, ResourceType.TOPIC, topic)
        return known[topic]

    async def store(self, offsets: Offsets) -> None:
        """Store some of the offsets."""
        if not offsets:
            return
        try:
            errors = await self._broker.groups.commit(self._group_id, self._identity, offsets)
        except KafkaError as error:
            errors = dict.fromkeys(offsets, error.code)
        if self.errors:
            self.errors |= errors  # in place: a long request is stored in many parts
        else:
            self.errors = errors

    async def store_in_tree(self, partition: TopicPartition) -> None:
        """Store an offset where version 0 does."""
        committed = self.offsets[partition]
        size_max = self._broker.config.groups.offset_metadata_max_bytes
        if len(committed.metadata) > size_max:
            self.errors[partition] = ErrorCode.OFFSET_METADATA_TOO_LARGE
            return
        await self._broker.old_offsets.set(self._group_id, partition, committed.offset)
        self.errors[partition] = ErrorCode.NONE
