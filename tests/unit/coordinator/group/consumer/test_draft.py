"""Deciding on a copy."""

from moldau.coordinator.group.consumer.draft import Draft
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.consumer.records import EpochRecord
from moldau.coordinator.group.offsets import Offsets


def test_the_group_itself_does_not_change() -> None:
    group = ConsumerGroup("g", Offsets())
    draft = Draft(group)
    draft.add()
    assert draft.group is group, "nothing was decided yet"
    draft.add(EpochRecord("g", 1))
    copy = draft.group
    draft.add(EpochRecord("g", 2))
    assert draft.group is copy, "it is copied once"
    assert (group.epoch, draft.group.epoch) == (0, 2)
    assert draft.records == [EpochRecord("g", 1), EpochRecord("g", 2)]
