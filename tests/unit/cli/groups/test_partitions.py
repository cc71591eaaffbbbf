"""Partitions that the option `--topic` names."""

import pytest

from moldau.cli.groups.partitions import wanted_partitions
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.admin.admin import Admin
from moldau.errors import UnknownTopicOrPartition
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker


async def test_topics_or_some_of_their_partitions(broker: EmbeddedBroker) -> None:
    async with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        (await admin.create_topics(["a"])).check()
        found = await wanted_partitions(admin, ["a", "b:1,2"])
        assert found == [
            TopicPartition("b", 1),
            TopicPartition("b", 2),
            TopicPartition("a", 0),
        ]
        with pytest.raises(UnknownTopicOrPartition, match="topic nope does not exist"):
            await wanted_partitions(admin, ["nope"])
        with pytest.raises(CommandFailed, match="Invalid partition 'x'"):
            await wanted_partitions(admin, ["a:x"])
