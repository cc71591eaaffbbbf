"""Topics are made for the application, and counted for it."""

import asyncio

from moldau.streams import STRING, StreamsBuilder
from moldau.streams.run.topics import internal_topics, prepare, topics_read
from moldau.testing.broker import EmbeddedBroker
from unit.client.topics import create_topic


def test_topics_of_a_topology() -> None:
    builder = StreamsBuilder()
    users = builder.global_table("users")
    lines = builder.stream("lines", "more").join(users, "left", lookup="value")
    lines.through("words", key=STRING, value=STRING).group_by_key().count(store="counts")
    topology = builder.build()
    assert internal_topics(topology, "app") == ("app-counts-changelog",)
    assert topics_read(topology.nodes, "app") == ("lines", "more", "words")


def test_changelogs_are_made_once_and_partitions_counted(kafka: EmbeddedBroker) -> None:
    create_topic(kafka, "lines", 3)
    settings = {"bootstrap.servers": kafka.bootstrap_servers}
    for _ in range(2):
        made = prepare(settings, ["app-counts-changelog"], ["lines", "app-counts-changelog", "no"])
        assert asyncio.run(made) == {"lines": 3, "app-counts-changelog": 1}
