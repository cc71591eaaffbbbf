"""The topics are made, read to their ends, and written by one process alone."""

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.connect.errors import ConfigError
from moldau.connect.storage.records import connector_config, offset_key
from moldau.connect.storage.topics import StateWriter, prepare_topics, read_state
from moldau.connect.worker.settings import WorkerSettings
from moldau.errors import KafkaError
from moldau.testing.broker import EmbeddedBroker


def settings(cluster: EmbeddedBroker, name: str) -> WorkerSettings:
    return WorkerSettings(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": name,
            "config.storage.topic": f"{name}-configs",
            "offset.storage.topic": f"{name}-offsets",
            "offset.storage.partitions": "3",
            "status.storage.topic": f"{name}-status",
            "status.storage.partitions": "1",
        }
    )


async def test_what_was_written_is_read_and_a_predecessor_writes_no_more(
    cluster: EmbeddedBroker,
) -> None:
    known = settings(cluster, "fence")
    assert await prepare_topics(known)
    await prepare_topics(known)
    first, second = StateWriter(known), StateWriter(known)
    await first.take_over()
    await first.write_configs([connector_config("a", {"x": "1"})])
    await first.write_offsets({offset_key("a", {"p": 1}): b'{"n":5}'})
    await second.take_over()
    with pytest.raises(KafkaError):
        await first.write_configs([connector_config("b", {"x": "2"})])
    await second.write_configs([connector_config("c", {"x": "3"})])
    await first.close()
    await second.close()
    state = await read_state(known)
    assert sorted(state.configs) == ["a", "c"]
    assert state.offset_of("a", {"p": 1}) == {"n": 5}


async def test_a_config_topic_of_several_partitions_is_refused(cluster: EmbeddedBroker) -> None:
    async with Admin(bootstrap_servers=cluster.bootstrap_servers) as admin:
        (await admin.create_topics([NewTopic("many-configs", partitions=2)])).check()
    with pytest.raises(ConfigError, match="required to have a single partition"):
        await prepare_topics(settings(cluster, "many"))
