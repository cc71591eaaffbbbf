"""What every member shall have: computed anew for each epoch of the group."""

from collections import Counter
from collections.abc import Mapping

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.group.consumer import range_assignor, uniform_assignor
from moldau.coordinator.group.consumer.assignor import Assign, MemberCandidate
from moldau.coordinator.group.consumer.draft import Draft
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.consumer.member import ConsumerMember
from moldau.coordinator.group.consumer.records import TargetEpochRecord, TargetRecord

_ASSIGNORS: Mapping[str, Assign] = {
    "uniform": uniform_assignor.assign,
    "range": range_assignor.assign,
}


def offered_assignors(config: GroupConfig) -> list[str]:
    """The names by which members may ask for assignors, the default first.

    The setting has Kafka's names of classes, or their short ones.
    """
    classes = (each.rpartition(".")[2] for each in config.group_consumer_assignors)
    short = (each.removesuffix("Assignor") for each in classes)
    return [name for name in map(str.lower, short) if name in _ASSIGNORS]


def chosen_assignor(group: ConsumerGroup, default: str) -> str:
    """What most members ask for, of those that ask for one that there is."""
    wished = (each.assignor or "" for each in group.members.values())
    wishes = Counter(name for name in wished if name in _ASSIGNORS)
    return wishes.most_common(1)[0][0] if wishes else default


def retarget(draft: Draft, default_assignor: str) -> None:
    """Bring the targets to the group's epoch."""
    group = draft.group
    candidates = [
        MemberCandidate(
            member.member_id,
            member.instance_id,
            _topic_ids(group, member),
            group.target(member.member_id),
        )
        for member in group.members.values()
    ]
    counts = {topic.topic_id: topic.partition_count for topic in group.topics.values()}
    assign = _ASSIGNORS[chosen_assignor(group, default_assignor)]
    for member_id, target in assign(candidates, counts).items():
        if target != group.targets.get(member_id):
            draft.add(TargetRecord(group.group_id, member_id, target))
    draft.add(TargetEpochRecord(group.group_id, draft.group.epoch))


def _topic_ids(group: ConsumerGroup, member: ConsumerMember) -> tuple[bytes, ...]:
    """The topics that a member subscribes to and that exist, each once, in order."""
    names = frozenset(group.topics_of(member))
    return tuple(sorted(topic.topic_id for name, topic in group.topics.items() if name in names))
