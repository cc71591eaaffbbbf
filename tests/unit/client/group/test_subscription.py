"""Names and patterns."""

import re

from moldau.client.cluster import Cluster
from moldau.client.group.subscription import Subscription
from moldau.client.settings import ClientSettings
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


def test_neither_is_nothing() -> None:
    assert not Subscription()
    assert Subscription(("t",))
    assert Subscription(pattern=re.compile("t"))
