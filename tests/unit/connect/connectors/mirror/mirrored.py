"""Two clusters, and what tests of the mirror do with them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.client.record import ConsumerRecord
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.connect.started import StartedWorker, until

SOURCE = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
IDENTITY = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
Record = ConsumerRecord[bytes, bytes]


@dataclass(slots=True)
class Clusters:
    """The one that is copied, and the worker's own."""

    old: EmbeddedBroker
    new: EmbeddedBroker
    worker: StartedWorker

    def settings(self, topics: str, **more: str) -> dict[str, str]:
        """Of a connector that looks for news often."""
        named = {name.replace("_", "."): text for name, text in more.items()}
        return {
            "connector.class": "MirrorSource",
            "source.cluster.alias": "old",
            "target.cluster.alias": "new",
            "source.cluster.bootstrap.servers": self.old.bootstrap_servers,
            "topics": topics,
            "consumer.poll.timeout.ms": "100",
            "refresh.topics.interval.seconds": "1",
            **named,
        }

    def mirror(self, name: str, topics: str, **more: str) -> None:
        """Have topics copied."""
        self.worker.put(name, self.settings(topics, **more))

    def delete(self, name: str) -> None:
        """Take a connector away."""
        assert self.worker.ask("DELETE", f"/connectors/{name}")[0] == 204
        until(lambda: self.worker.states(name) == [])

    def statuses(self) -> object:
        """For whoever looks at a failure."""
        return self.worker.ask("GET", "/connectors?expand=status")[1]

    def until_copied(self, topic: str, values: Iterable[bytes | None]) -> list[Record]:
        """Wait until a topic of the target has these values."""
        wanted = sorted(values, key=str)
        until(
            lambda: sorted((each.value for each in read(self.new, topic)), key=str) == wanted,
            lambda: (read(self.new, topic), self.statuses()),
        )
        return read(self.new, topic)


def create(kafka: EmbeddedBroker, topic: str, partitions: int = 1, **configs: str) -> None:
    """A topic with settings."""
    named = {name.replace("_", "."): text for name, text in configs.items()}
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(topic, partitions, configs=named)]).check()


def write(kafka: EmbeddedBroker, topic: str, values: Iterable[object], partition: int = 0) -> None:
    """Values as texts, to one partition."""
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for each in values:
            producer.send(topic, str(each).encode(), partition=partition)


def read(kafka: EmbeddedBroker, topic: str) -> list[Record]:
    """All committed records of a topic, none if it is not there."""
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        if topic not in admin.list_topics():
            return []
    settings: Mapping[str, object] = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "isolation.level": "read_committed",
    }
    with Consumer[bytes, bytes](settings) as consumer:
        places = consumer.partitions_of(topic)
        starts, ends = consumer.beginning_offsets(places), consumer.end_offsets(places)
        consumer.assign(starts)
        found: list[Record] = []
        while any(consumer.position(each) < ends[each] for each in places):
            found += consumer.poll(0.2)
    return found


def texts(numbers: Iterable[object]) -> list[bytes]:
    """As `write` writes them."""
    return [str(each).encode() for each in numbers]


def partitions_of(kafka: EmbeddedBroker, topic: str) -> int:
    """How many a topic has."""
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        return len(admin.describe_topics(topic)[topic].partitions)


def place(topic: str, partition: int = 0) -> TopicPartition:
    """In short."""
    return TopicPartition(topic, partition)
