"""Keeping what a group knows of its topics up to date."""

from moldau.coordinator.group.consumer.draft import Draft
from moldau.coordinator.group.consumer.pattern_topics import Resolve
from moldau.coordinator.group.consumer.records import EpochRecord, PatternRecord, TopicsRecord
from moldau.coordinator.group.consumer.stored import ResolvedPattern
from moldau.coordinator.group.consumer.topics import known_topics
from moldau.metadata.image import ClusterImage


def refresh(
    draft: Draft, image: ClusterImage, resolve: Resolve, *, is_changed: bool, wall_ms: int
) -> bool:
    """Look at the cluster again; the group's epoch moves on if this or a member has changed.

    Patterns that are not resolved yet stand for what they stood for. Returns whether there are
    none of those.
    """
    group_id = draft.group.group_id
    count = len(draft.records)
    knows_all = _refresh_patterns(draft, image, resolve, wall_ms=wall_ms)
    has_moved = any(
        isinstance(record, PatternRecord) and record.resolved is not None
        for record in draft.records[count:]
    )
    topics = known_topics(draft.group.subscribed, image)
    if topics != draft.group.topics:
        draft.add(TopicsRecord(group_id, topics))
        has_moved = True
    if is_changed or has_moved:
        draft.add(EpochRecord(group_id, draft.group.epoch + 1))
    return knows_all


def _refresh_patterns(draft: Draft, image: ClusterImage, resolve: Resolve, *, wall_ms: int) -> bool:
    group = draft.group
    used = dict.fromkeys(each.topic_pattern for each in group.members.values())
    used.pop("", None)
    knows_all = True
    for text in used:
        known = group.patterns.get(text)
        topics = resolve(text, image)
        if topics is None:
            knows_all = False
        elif known is None or known.topics != topics:
            draft.add(PatternRecord(group.group_id, text, ResolvedPattern(topics, wall_ms)))
    for text in [each for each in group.patterns if each not in used]:
        draft.add(PatternRecord(group.group_id, text, None))
    return knows_all
