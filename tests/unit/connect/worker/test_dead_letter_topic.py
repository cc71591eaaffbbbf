"""The queue of failed records is made when it is needed, on a single broker too."""

import pytest

from moldau.client.admin.admin import Admin
from moldau.connect.worker.dead_letter_topic import dead_letter_producer
from moldau.connect.worker.settings import WorkerSettings
from moldau.testing.broker import EmbeddedBroker


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"auto.create.topics.enable": "false"}


async def test_the_topic_is_made_with_as_many_replicas_as_there_can_be(
    kafka: EmbeddedBroker,
) -> None:
    settings = WorkerSettings({"bootstrap.servers": kafka.bootstrap_servers})
    for _ in range(2):
        with dead_letter_producer(
            settings, {"errors.deadletterqueue.topic.name": "dead"}
        ) as producer:
            producer.send("dead", b"x")
            producer.flush()
    async with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        found = (await admin.describe_topics("dead"))["dead"].partitions
    assert [len(each.replicas) for each in found] == [1]
