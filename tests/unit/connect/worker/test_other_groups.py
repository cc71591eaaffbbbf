"""A worker finds groups that have its topics; Java's are in tests/conformance."""

import logging
import time

import pytest

from moldau.client.consumer.consumer import Consumer
from moldau.connect.storage.cluster_state import ClusterState
from moldau.connect.storage.topics import prepare_topics
from moldau.connect.worker.other_groups import other_groups, warn_of_other_groups
from moldau.connect.worker.settings import WorkerSettings
from moldau.testing.broker import EmbeddedBroker


def settings(servers: str, name: str, group: str) -> WorkerSettings:
    topics = {f"{each}.storage.topic": f"{name}-{each}" for each in ("config", "offset", "status")}
    partitions = {f"{each}.storage.partitions": "1" for each in ("offset", "status")}
    return WorkerSettings({"bootstrap.servers": servers, "group.id": group, **topics, **partitions})


async def test_a_group_that_has_the_config_topic_is_named(
    cluster: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    servers = cluster.bootstrap_servers
    used, unused = settings(servers, "used", "mine"), settings(servers, "unused", "mine")
    await prepare_topics(used)
    state = ClusterState(session_key_ms=int(time.time() * 1000))
    assert await other_groups(used, state) == []
    async with Consumer[bytes, bytes](bootstrap_servers=servers, group_id="theirs") as consumer:
        consumer.subscribe([used.config_topic])
        while not consumer.assignment():
            await consumer.poll(0.1)
        assert await other_groups(used, ClusterState()) == ["theirs"]
        assert await other_groups(unused, state) == []
        assert await other_groups(settings(servers, "used", "theirs"), state) == []
        await warn_of_other_groups(used, state)
    assert "workers of the group theirs use the topic used-config" in caplog.text


async def test_a_worker_starts_where_it_must_not_ask(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    unreachable = settings("127.0.0.1:1", "used", "mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("moldau.connect.worker.other_groups._ASK_S", 0.1)
        await warn_of_other_groups(unreachable, ClusterState())
    said = "Failed to look for other groups that use the topic used-config: no answer in 0.1 s"
    assert said in caplog.text
