"""The settings of topics: what the tree has, on top of what the broker has.

They are right for the topics that this broker has replicas of: it reads them before it makes a
log, and is notified of changes. No broker is notified of a new topic's settings, so a caller that
needs those of any topic (a controller at an election, DescribeConfigs) reads its node.

A log may be of a topic that the tree does not know, or whose settings cannot be parsed:
the log directory may have been another broker's. Nothing is taken out of such a log, for
that could not be brought back once its settings are known.
"""

import logging
from collections.abc import Iterator, Mapping

from moldau.config.topic import TopicConfig
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity, decode_config
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.tree import NoNode, Tree
from moldau.errors import KafkaError

_log = logging.getLogger(__name__)

_TOPICS_PATH = "/config/topics"
_UNCLEAN = "unclean.leader.election.enable"
_KEPT = "nothing is deleted from it until they are set anew"
# Without one of these it is unknown what may be deleted.
_DECIDE_WHAT_GOES = frozenset(
    (
        "cleanup.policy",
        "retention.ms",
        "retention.bytes",
        "delete.retention.ms",
        "min.compaction.lag.ms",
    )
)


class TopicConfigs:
    """The overrides of every topic, and the settings that come of them."""

    def __init__(self, tree: Tree, defaults: TopicConfig) -> None:
        self._tree = tree
        self._defaults = defaults
        self._unknown = defaults.keeping_everything()
        self._overrides: dict[str, Mapping[str, str] | None] = {}
        """Of all topics that the tree knows; None where they cannot be parsed."""
        self._configs: dict[str, TopicConfig] = {}

    @property
    def defaults(self) -> TopicConfig:
        """The settings of topics that have none of their own."""
        return self._defaults

    def __iter__(self) -> Iterator[str]:
        """The names of all topics that the tree knows."""
        return iter(self._overrides)

    def __contains__(self, topic: str) -> bool:
        return topic in self._overrides

    async def load(self) -> None:
        """Read the overrides of all topics."""
        names = await self._tree.children(_TOPICS_PATH)
        names += await self._tree.children(topic_nodes.PATH)
        for topic in dict.fromkeys(names):
            await self.refresh(topic)

    async def refresh(self, topic: str) -> None:
        """Read the overrides of one topic again."""
        try:
            node = await self._tree.get(ConfigEntity.topic(topic).path)
            overrides = decode_config(node.data)
        except NoNode:
            if await self._tree.exists(topic_nodes.topic_path(topic)) is None:
                self.forget(topic)
                return
            overrides = {}
        except NodeDataError as error:
            before = self._overrides.setdefault(topic, None)
            effect = _KEPT if before is None else "those from before stay"
            _log.warning("Failed to parse settings of topic %s: %s; %s", topic, error, effect)
            return
        self._overrides[topic] = overrides
        self._configs.pop(topic, None)

    def forget(self, topic: str) -> None:
        """The topic is gone."""
        self._overrides.pop(topic, None)
        self._configs.pop(topic, None)

    def overrides_of(self, topic: str) -> Mapping[str, str]:
        """What was set for this topic itself."""
        return self._overrides.get(topic) or {}

    def of(self, topic: str) -> TopicConfig:
        """The settings of a topic."""
        overrides = self._overrides.get(topic)
        if overrides is None:
            return self._unknown
        if not overrides:
            return self._defaults
        config = self._configs.get(topic)
        if config is None:
            config = self._configs[topic] = self._effective(topic, overrides)
        return config

    def is_unclean_allowed(self, topic: str, overrides: Mapping[str, str]) -> bool:
        """Whether a replica out of sync may lead a topic that has these settings of its own."""
        texts = {name: text for name, text in overrides.items() if name == _UNCLEAN}
        try:
            return self._defaults.with_overrides(texts).unclean_leader_election_enable
        except KafkaError as error:
            # Whatever was meant: records that are lost do not come back.
            _log.warning("No unclean election for topic %s: %s", topic, error)
            return False

    def set_defaults(self, defaults: TopicConfig) -> None:
        """The broker's own settings have changed."""
        self._defaults = defaults
        self._unknown = defaults.keeping_everything()
        self._configs.clear()

    def _effective(self, topic: str, overrides: Mapping[str, str]) -> TopicConfig:
        try:
            return self._defaults.with_overrides(overrides)
        except KafkaError:
            # Written by another version, or by hand: better without some than no topic.
            return self._as_far_as_possible(topic, overrides)

    def _as_far_as_possible(self, topic: str, overrides: Mapping[str, str]) -> TopicConfig:
        config = self._defaults
        ignored = []
        for name, text in overrides.items():
            try:
                config = config.with_overrides({name: text})
            except KafkaError as error:
                _log.warning("Ignored setting %s of topic %s: %s", name, topic, error)
                ignored.append(name)
        if _DECIDE_WHAT_GOES.isdisjoint(ignored):
            return config
        _log.warning("topic %s: %s", topic, _KEPT)
        return config.keeping_everything()
