"""Where failed records are written: the topic is made with the first of them."""

import logging
from collections.abc import Mapping
from contextlib import suppress

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.connect.config.values import number
from moldau.connect.worker.settings import WorkerSettings
from moldau.errors import TopicAlreadyExists

_log = logging.getLogger(__name__)

_REPLICATION = "errors.deadletterqueue.topic.replication.factor"


def dead_letter_producer(
    settings: WorkerSettings, config: Mapping[str, str]
) -> Producer[bytes, bytes]:
    """A producer for the queue that a sink's settings name."""
    with Admin(settings.client("admin.", config)) as admin:
        wanted = number(config, _REPLICATION, 3)
        # On one broker Connect's default of 3 fails; as many replicas as there can be are meant.
        replicas = min(wanted, len(admin.describe_cluster().brokers))
        name = config["errors.deadletterqueue.topic.name"].strip()
        new = NewTopic(name, partitions=1, replication_factor=replicas)
        with suppress(TopicAlreadyExists):
            admin.create_topics([new]).check()
            _log.info("%s is made for records that fail, with %d replicas", name, replicas)
    return Producer(settings.client("producer.", config))
