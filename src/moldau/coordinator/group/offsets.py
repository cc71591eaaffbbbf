"""The offsets of one group: those that are committed, and those of open transactions.

An offset stored in a transaction counts when the transaction commits, unless a later one
has been stored in the meantime.

This file runs as it stands and is also compiled as `_offsets`; `_offsets.pxd` then gives its
variables C types.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.coordinator.group.messages import Committed
from moldau.model import NO_PRODUCER_ID, TopicPartition

if not cython.compiled:
    from moldau.records.memory import item

# Half of what calling a class of named tuples takes: it is called for every offset.
_new = tuple.__new__


class Offsets:
    """How far a group has read, by partition."""

    __slots__ = ("committed", "open")

    def __init__(self) -> None:
        self.committed: dict[TopicPartition, Committed] = {}
        # By producer: what its open transaction would commit.
        self.open: dict[int, dict[TopicPartition, Committed]] = {}

    def __bool__(self) -> bool:
        return bool(self.committed or self.open)

    def apply(self, partition: TopicPartition, stored: Committed | None, producer_id: int) -> None:
        """Take in a record; only offsets, never deletions, come in transactions."""
        if producer_id != NO_PRODUCER_ID:
            if stored is not None:
                self.open.setdefault(producer_id, {})[partition] = stored
        elif stored is None:
            self.committed.pop(partition, None)
        else:
            self.committed[partition] = stored

    def store(self, records: Sequence[Any], offset_record: type, log_offset: int) -> int:
        """Take in what follows each other of one group, outside of transactions.

        Returns how many records that were: as far as they have an offset of the first one's group.
        """
        committed, group_id, count = self.committed, records[0][0], 0
        for record in records:
            if type(record) is not offset_record or item(record, 0) != group_id:
                break
            given = item(record, 2)
            if given is None:
                break
            fields = (
                item(given, 0),
                item(given, 1),
                item(given, 2),
                item(given, 3),
                item(given, 4),
                log_offset + count,
            )
            committed[item(record, 1)] = _new(Committed, fields)
            count += 1
        return count

    def end_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        """The producer's transaction is decided."""
        pending = self.open.pop(producer_id, {})
        if not is_commit:
            return
        for partition, stored in pending.items():
            current = self.committed.get(partition)
            if current is None or current.log_offset < stored.log_offset:
                self.committed[partition] = stored

    def is_unstable(self, partition: TopicPartition) -> bool:
        """Whether an open transaction may still change the offset."""
        return any(partition in pending for pending in self.open.values())

    def expired(
        self,
        now_ms: int,
        *,
        until_ms: int,
        base_timestamp: int | None,
        subscribed: Iterable[str] = (),
    ) -> Iterator[TopicPartition]:
        """The partitions whose offsets were kept long enough (KIP-211).

        An offset is kept from `base_timestamp`, or else from its commit; those from before
        `until_ms` have been kept long enough, unless their topic is subscribed.
        """
        kept = frozenset(subscribed)
        for partition, stored in self.committed.items():
            if partition.topic in kept or self.is_unstable(partition):
                continue
            if stored.expire_timestamp != -1:
                is_over = now_ms >= stored.expire_timestamp
            elif base_timestamp is not None:
                is_over = base_timestamp <= until_ms
            else:
                is_over = stored.commit_timestamp <= until_ms
            if is_over:
                yield partition
