"""Names and patterns."""

import re

from moldau import Consumer
from moldau.client.connection.cluster import Cluster
from moldau.client.group.subscription import Subscription
from moldau.client.settings import ClientSettings, ConsumerSettings
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.client.topics import create_topic


async def test_a_pattern_stands_for_the_topics_that_match(kafka: EmbeddedBroker) -> None:
    for name in ("orders-1", "orders-2", "other"):
        create_topic(kafka, name)
    cluster = Cluster(ClientSettings(bootstrap_servers=kafka.bootstrap_servers))
    found = await Subscription(pattern=re.compile("^orders-")).topics(cluster)
    assert found == ("orders-1", "orders-2")
    assert await Subscription(("a", "b")).topics(cluster) == ("a", "b")
    cluster.close()


async def test_topics_of_the_brokers_match_only_if_they_are_wanted(kafka: EmbeddedBroker) -> None:
    servers = kafka.bootstrap_servers
    create_topic(kafka, "t")
    async with Consumer(bootstrap_servers=servers, group_id="g") as consumer:
        await consumer.commit({TopicPartition("t", 0): 1})  # which makes the topic of offsets
    for excludes, found in ((True, ()), (False, ("__consumer_offsets",))):
        settings = ConsumerSettings(bootstrap_servers=servers, exclude_internal_topics=excludes)
        cluster = Cluster(settings)
        assert await Subscription(pattern=re.compile("offsets$")).topics(cluster) == found
        cluster.close()


def test_neither_is_nothing() -> None:
    assert not Subscription()
    assert Subscription(("t",))
    assert Subscription(pattern=re.compile("t"))
