"""The settings of topics: what the tree has, on top of what the broker has.

They are right for the topics that this broker has replicas of: it reads them before it makes a
log, and hears of changes. Nobody is notified of a new topic's settings, so whoever wants to know
those of any topic (a controller at an election, a request to describe them) reads its node.
"""

import logging
from collections.abc import Mapping

from moldau.config.topic import TopicConfig
from moldau.coordination.layout.configs import ConfigEntity, decode_config
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.tree import NoNode, Tree
from moldau.errors import KafkaError

_log = logging.getLogger(__name__)

_TOPICS_PATH = "/config/topics"
_UNCLEAN = "unclean.leader.election.enable"


class TopicConfigs:
    """The overrides of every topic, and the settings that come of them."""

    def __init__(self, tree: Tree, defaults: TopicConfig) -> None:
        self._tree = tree
        self._defaults = defaults
        self._overrides: dict[str, Mapping[str, str]] = {}
        self._configs: dict[str, TopicConfig] = {}

    async def load(self) -> None:
        """Read the overrides of all topics."""
        for topic in await self._tree.children(_TOPICS_PATH):
            await self.refresh(topic)

    async def refresh(self, topic: str) -> None:
        """Read the overrides of one topic again."""
        try:
            node = await self._tree.get(ConfigEntity.topic(topic).path)
            overrides = decode_config(node.data)
        except NoNode:
            self.forget(topic)
            return
        except NodeDataError as error:
            _log.warning("settings of topic %s are not understood: %s", topic, error)
            return
        self._overrides[topic] = overrides
        self._configs.pop(topic, None)

    def forget(self, topic: str) -> None:
        """The topic is gone."""
        self._overrides.pop(topic, None)
        self._configs.pop(topic, None)

    def overrides_of(self, topic: str) -> Mapping[str, str]:
        """What was set for this topic itself."""
        return self._overrides.get(topic, {})

    def of(self, topic: str) -> TopicConfig:
        """The settings of a topic."""
        overrides = self._overrides.get(topic)
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
        self._configs.clear()

    def _effective(self, topic: str, overrides: Mapping[str, str]) -> TopicConfig:
        try:
            return self._defaults.with_overrides(overrides)
        except KafkaError:
            # Written by another version, or by hand: better without some than no topic.
            return self._as_far_as_possible(topic, overrides)

    def _as_far_as_possible(self, topic: str, overrides: Mapping[str, str]) -> TopicConfig:
        config = self._defaults
        for name, text in overrides.items():
            try:
                config = config.with_overrides({name: text})
            except KafkaError as error:
                _log.warning("setting %s of topic %s is ignored: %s", name, topic, error)
        return config
