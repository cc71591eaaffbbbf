"""Topics are made with the settings of the source, and left alone if they are there."""

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.configs import ConfigResource
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.topic_creation import SourceTopics
from moldau.testing.broker import EmbeddedBroker

RULES = {
    "topic.creation.default.replication.factor": "1",
    "topic.creation.default.partitions": "3",
    "topic.creation.default.cleanup.policy": "compact",
}


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"auto.create.topics.enable": "false"}


async def test_a_topic_is_made_once_and_only_if_it_is_wanted(
    kafka: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    settings = WorkerSettings({"bootstrap.servers": kafka.bootstrap_servers})
    refusing = WorkerSettings({**settings.properties, "topic.creation.enable": "false"})
    SourceTopics(settings, {"topic": "none"}).prepare("none")
    SourceTopics(refusing, RULES).prepare("none")
    assert "topic.creation.enable=false" in caplog.text
    for _ in range(2):
        SourceTopics(settings, RULES).prepare("made")
    async with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        assert set(await admin.list_topics()) == {"made"}
        found = (await admin.describe_topics("made"))["made"]
        assert len(found.partitions) == 3
        resource = ConfigResource.topic("made")
        (configs,) = (await admin.describe_configs([resource])).values()
        assert configs["cleanup.policy"].value == "compact"
