"""Makes the topics of a source before their first record, as its settings want it."""

import logging
from collections.abc import Mapping
from contextlib import suppress

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.connect.config.topic_creation import topic_rules
from moldau.connect.config.values import flag
from moldau.connect.worker.settings import WorkerSettings
from moldau.errors import TopicAlreadyExists, UnknownTopicOrPartition

_log = logging.getLogger(__name__)

_ENABLE = "topic.creation.enable"


class SourceTopics:
    """Asks and makes with a connection that lasts no longer than that: it is needed seldom."""

    def __init__(self, settings: WorkerSettings, config: Mapping[str, str]) -> None:
        self._client = settings.client("admin.", config)
        self._rules = topic_rules(config)
        if self._rules and not flag(settings.properties, _ENABLE, default=True):
            _log.warning("topic.creation.* has no effect: the worker has %s=false", _ENABLE)
            self._rules = []

    def prepare(self, topic: str) -> None:
        """Have a topic there; without rules that is left to the brokers."""
        rule = next((each for each in self._rules if each.covers(topic)), None)
        if rule is None:
            return
        with Admin(self._client) as admin:
            # First, since it may be there though this user may not make it.
            with suppress(UnknownTopicOrPartition):
                admin.describe_topics(topic)[topic]
                return
            new = NewTopic(
                topic,
                partitions=rule.partitions,
                replication_factor=rule.replication_factor,
                configs=dict(rule.configs),
            )
            with suppress(TopicAlreadyExists):
                admin.create_topics([new]).check()
                _log.info("topic %s is made by topic.creation", topic)
