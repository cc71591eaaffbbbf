"""Topics of the source that are copied, and what the target's need to be like them."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from moldau.client.admin.configs import ConfigEntry, ConfigResource, ConfigSource
from moldau.client.admin.topics import NewTopic, TopicDescription
from moldau.client.blocking.admin import Admin
from moldau.connect.config.values import flag, number
from moldau.connect.connectors.mirror.filters import (
    TOPICS_EXCLUDE,
    NameFilter,
    excluded_properties,
)
from moldau.connect.connectors.mirror.policy import ReplicationPolicy
from moldau.errors import KafkaError, TopicAlreadyExists
from moldau.model import TopicPartition

_log = logging.getLogger(__name__)

_FACTOR = "replication.factor"


class TopicChoice:
    """Which topics of the source are copied."""

    def __init__(self, config: Mapping[str, str], policy: ReplicationPolicy) -> None:
        self._policy = policy
        self._filter = NameFilter.of(config, "topics", TOPICS_EXCLUDE)

    def takes(self, topic: str) -> bool:
        """Heartbeats always, internal topics and those that have come from the target never."""
        policy = self._policy
        if policy.is_internal(topic) or policy.has_come_from_target(topic):
            return False
        return policy.is_heartbeats(topic) or self._filter.takes(topic)


@dataclass(frozen=True, slots=True)
class ChosenTopic:
    """One that is copied."""

    name: str
    remote: str
    """Its name at the target."""
    partitions: int

    def places(self) -> Iterable[TopicPartition]:
        """Its partitions, in the source."""
        return (TopicPartition(self.name, index) for index in range(self.partitions))


def chosen_topics(
    source: Admin, choice: TopicChoice, policy: ReplicationPolicy
) -> list[ChosenTopic]:
    """What the source has now."""
    found = source.describe_all_topics().succeeded
    return [
        ChosenTopic(name, policy.remote_topic(name), len(described.partitions))
        for name, described in found.items()
        if choice.takes(name)
    ]


class TargetTopics:
    """Makes topics, partitions and settings at the target."""

    def __init__(self, config: Mapping[str, str], source: Admin, target: Admin) -> None:
        self._source = source
        self._target = target
        self._factor = number(config, _FACTOR, 2)
        self._follows_settings = flag(config, "sync.topic.configs.enabled", default=True)
        self._excluded = excluded_properties(config)

    def bring_into_line(self, topics: Iterable[ChosenTopic]) -> None:
        """Have everything there that records need, and settings as in the source."""
        wanted = {each.remote: each for each in topics}
        there = self._target.describe_all_topics().succeeded
        new = [each for name, each in wanted.items() if name not in there]
        self._make(new)
        self._grow(wanted.values(), there)
        followed = list(wanted.values()) if self._follows_settings else new
        if followed:
            self._set(followed)

    def _make(self, topics: list[ChosenTopic]) -> None:
        if not topics:
            return
        factor = fitting_factor(self._target, self._factor)
        made = self._target.create_topics(
            [NewTopic(each.remote, each.partitions, factor) for each in topics]
        )
        for name, error in made.errors.items():
            if not isinstance(error, TopicAlreadyExists):
                raise KafkaError(error.code, f"topic {name} cannot be made: {error}")
        for each in topics:
            _log.info("topic %s is made with %d partitions", each.remote, each.partitions)

    def _grow(self, topics: Iterable[ChosenTopic], there: Mapping[str, TopicDescription]) -> None:
        totals = {
            each.remote: each.partitions
            for each in topics
            if each.remote in there and len(there[each.remote].partitions) < each.partitions
        }
        if totals:
            self._target.create_partitions(totals).check()
            for name, total in totals.items():
                _log.info("topic %s has %d partitions now, as in the source", name, total)

    def _set(self, topics: list[ChosenTopic]) -> None:
        """Only what differs: most rounds find nothing to do."""
        theirs = self._source.describe_configs(
            [ConfigResource.topic(each.name) for each in topics]
        ).succeeded
        ours = self._target.describe_configs(
            [ConfigResource.topic(each.remote) for each in topics]
        ).succeeded
        changes = {}
        for each in topics:
            there, here = ConfigResource.topic(each.name), ConfigResource.topic(each.remote)
            if there in theirs and here in ours:
                found = self._changes(theirs[there], ours[here])
                if found:
                    changes[here] = found
        if not changes:
            return
        done = self._target.incremental_alter_configs(changes)
        for resource, error in done.errors.items():
            _log.warning("settings of topic %s stay as they are: %s", resource.name, error)
        for resource in done.succeeded:
            names = ", ".join(sorted(changes[resource]))
            _log.info("settings of topic %s are as in the source now: %s", resource.name, names)

    def _changes(
        self, theirs: Mapping[str, ConfigEntry], ours: Mapping[str, ConfigEntry]
    ) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for name, entry in theirs.items():
            own = ours.get(name)
            # What the target does not know cannot be set there.
            if own is None or entry.is_read_only or entry.is_sensitive:
                continue
            if self._excluded.fullmatch(name):
                continue
            is_set = own.source is ConfigSource.TOPIC
            if entry.is_default:
                if is_set:
                    found[name] = None
            elif not is_set or own.value != entry.value:
                found[name] = entry.value
        return found


def fitting_factor(target: Admin, wanted: int) -> int:
    """Not more replicas than there are brokers."""
    return min(wanted, len(target.describe_cluster().brokers))


def make_compacted(admin: Admin, topic: str, factor: int) -> None:
    """A topic of one partition whose records replace each other, unless it is there."""
    if topic in admin.list_topics(include_internal=True):
        return
    new = NewTopic(topic, 1, fitting_factor(admin, factor), configs={"cleanup.policy": "compact"})
    made = admin.create_topics([new])
    for error in made.errors.values():
        if not isinstance(error, TopicAlreadyExists):
            raise error
