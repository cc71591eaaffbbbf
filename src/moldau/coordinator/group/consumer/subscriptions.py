"""Keeping what a group knows of its topics up to date."""

from moldau.coordinator.group.consumer.draft import Draft
from moldau.coordinator.group.consumer.pattern import topic_pattern
from moldau.coordinator.group.consumer.records import EpochRecord, PatternRecord, TopicsRecord
from moldau.coordinator.group.consumer.stored import ResolvedPattern
from moldau.coordinator.group.consumer.topics import known_topics
from moldau.metadata.image import ClusterImage


def refresh(draft: Draft, image: ClusterImage, *, is_changed: bool, wall_ms: int) -> None:
    """Look at the cluster again; the group's epoch moves on if this or a member has changed."""
    group_id = draft.group.group_id
    has_moved = _refresh_patterns(draft, image, wall_ms=wall_ms)
    topics = known_topics(draft.group.subscribed, image)
    if topics != draft.group.topics:
        draft.add(TopicsRecord(group_id, topics))
        has_moved = True
    if is_changed or has_moved:
        draft.add(EpochRecord(group_id, draft.group.epoch + 1))


def _refresh_patterns(draft: Draft, image: ClusterImage, *, wall_ms: int) -> bool:
    group = draft.group
    used = dict.fromkeys(each.topic_pattern for each in group.members.values())
    used.pop("", None)
    has_moved = False
    for text in used:
        known = group.patterns.get(text)
        pattern = topic_pattern(text)
        topics = tuple(sorted(name for name in image.topics if pattern.matches(name)))
        if known is None or known.topics != topics:
            draft.add(PatternRecord(group.group_id, text, ResolvedPattern(topics, wall_ms)))
            has_moved = True
    for text in [each for each in group.patterns if each not in used]:
        draft.add(PatternRecord(group.group_id, text, None))
    return has_moved
