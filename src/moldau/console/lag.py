"""How far groups are behind: offsets and ends that belong together."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from moldau.client.offset_lookup import EARLIEST, LATEST
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """One partition of a group; the end is None if its leader does not answer."""

    committed: int
    start: int | None
    end: int | None

    @property
    def lag(self) -> int | None:
        """Records after the committed offset that are still there; never less than none."""
        if self.end is None:
            return None
        return max(self.end - max(self.committed, self.start or 0), 0)


@dataclass(slots=True)
class GroupLag:
    """A group; its total is at least that where some partitions are unknown."""

    partitions: dict[TopicPartition, PartitionLag] = field(default_factory=dict)
    error: str | None = None

    @property
    def total(self) -> int:
        """The sum of what is known."""
        return sum(each.lag or 0 for each in self.partitions.values())

    @property
    def is_partial(self) -> bool:
        """Whether the lag of a partition is not known."""
        return any(each.lag is None for each in self.partitions.values())


async def read_lag(admin: "Admin", groups: Sequence[str]) -> dict[str, GroupLag]:
    """The lag of groups. Ends are read after the offsets, so they are never before them.

    The end is what readers of committed records reach: open transactions end the log.
    """
    committed = await admin.list_group_offsets(groups)
    partitions = {each for offsets in committed.succeeded.values() for each in offsets}
    ends, starts = await asyncio.gather(
        admin.list_offsets(dict.fromkeys(partitions, LATEST), committed_only=True),
        admin.list_offsets(dict.fromkeys(partitions, EARLIEST)),
    )
    found = {
        group: GroupLag(
            {
                partition: PartitionLag(
                    each.offset,
                    starts.succeeded[partition].offset if partition in starts.succeeded else None,
                    ends.succeeded[partition].offset if partition in ends.succeeded else None,
                )
                for partition, each in sorted(offsets.items())
            }
        )
        for group, offsets in committed.succeeded.items()
    }
    for group, error in committed.errors.items():
        found[group] = GroupLag(error=error.code.name)
    return found
