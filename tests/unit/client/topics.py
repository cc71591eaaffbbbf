"""Topics for tests of clients."""

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.testing.broker import EmbeddedBroker


def create_topic(kafka: EmbeddedBroker, name: str, partitions: int = 1) -> None:
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(name, partitions, 1)]).check()
    kafka.wait_for_topic(name)
