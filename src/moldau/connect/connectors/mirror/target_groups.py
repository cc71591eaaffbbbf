"""Offsets of groups at the target: written for those that nobody uses there, never backwards."""

import logging
from collections.abc import Iterable
from dataclasses import replace

from moldau.client.admin.group_offsets import CommittedOffset
from moldau.client.blocking.admin import Admin
from moldau.client.offset_lookup import EARLIEST
from moldau.connect.connectors.mirror.layouts import Checkpoint
from moldau.connect.connectors.mirror.runs import BEGINNING
from moldau.model import TopicPartition

_log = logging.getLogger(__name__)

_UNUSED = ("Empty", "Dead")


class TargetGroups:
    """Groups by the names that they have in the source."""

    def __init__(self, target: Admin) -> None:
        self._target = target

    def bring_forward(self, checkpoints: Iterable[Checkpoint]) -> None:
        """Write what is further on than what is there."""
        wanted: dict[str, dict[TopicPartition, CommittedOffset]] = {}
        for each in checkpoints:
            offset = CommittedOffset(each.target, each.metadata)
            wanted.setdefault(each.group, {})[each.partition] = offset
        if not wanted:
            return
        described = self._target.describe_groups(wanted).succeeded
        unused = [group for group, found in described.items() if found.state in _UNUSED]
        if not unused:
            return
        there = self._target.list_group_offsets(unused).succeeded
        for group in unused:
            known = there.get(group, {})
            further = {
                place: offset
                for place, offset in wanted[group].items()
                if place not in known or known[place].offset < offset.offset
            }
            if further:
                self._write(group, further)

    def _write(self, group: str, offsets: dict[TopicPartition, CommittedOffset]) -> None:
        """A group that somebody has joined meanwhile keeps its own."""
        done = self._target.alter_group_offsets(group, self._within(offsets))
        for place, error in done.errors.items():
            _log.warning("group %s keeps its offset of %s: %s", group, place, error)

    def _within(
        self, offsets: dict[TopicPartition, CommittedOffset]
    ) -> dict[TopicPartition, CommittedOffset]:
        """Not before the beginning of a log: from there, a group might go on at the end."""
        first = [place for place, each in offsets.items() if each.offset == BEGINNING]
        if not first:
            return offsets
        starts = self._target.list_offsets(dict.fromkeys(first, EARLIEST)).succeeded
        moved = {
            place: replace(offsets[place], offset=found.offset) for place, found in starts.items()
        }
        return {**offsets, **moved}
