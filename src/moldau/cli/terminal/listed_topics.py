"""Settings of topics from a file that a command names, or from a ZooKeeper."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from moldau.config.broker.startup import Startup
from moldau.config.topic_defaults import topic_defaults
from moldau.config.topic_listing import ListedTopic, check_topics, parse_topics
from moldau.config.values import config_error
from moldau.errors import KafkaError

_ZOOKEEPER = "zookeeper://"


def read_listed_topics(source: str, startup: Startup) -> Mapping[str, ListedTopic]:
    """What `--topic-configs` names, for a broker with these settings; InvalidConfig if it fails."""
    if not startup.config.is_standalone:
        raise config_error(
            "--topic-configs: the settings of topics are in the ZooKeeper of zookeeper.connect"
        )
    try:
        topics = _read(source, startup)
        check_topics(topics, topic_defaults(startup.config))
    except UnicodeDecodeError as error:
        raise config_error(f"--topic-configs {source}: not text: {error}") from error
    except KafkaError as error:
        raise config_error(f"--topic-configs {source}: {error}") from error
    return topics


def _read(source: str, startup: Startup) -> Mapping[str, ListedTopic]:
    if not source.startswith(_ZOOKEEPER):
        return parse_topics(Path(source).read_bytes().decode())
    # Seldom, and kazoo takes a while to load.
    from moldau.cli.znodes.topic_settings import read_topics  # noqa: PLC0415

    return asyncio.run(read_topics(source.removeprefix(_ZOOKEEPER), startup))
