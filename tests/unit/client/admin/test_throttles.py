"""Limits on what brokers copy while partitions move."""

from moldau.client.admin.configs import ConfigResource, ConfigSource
from moldau.client.admin.throttles import ThrottleAdmin, clear_throttles, set_throttles
from moldau.client.admin.topics import TopicsArea
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker


class Admin(TopicsArea, ThrottleAdmin):
    """One that makes the topic as well."""


async def own_settings(admin: ThrottleAdmin, resource: ConfigResource) -> dict[str, str | None]:
    found = (await admin.describe_configs([resource]))[resource]
    own = (ConfigSource.TOPIC, ConfigSource.DYNAMIC_BROKER)
    return {name: each.value for name, each in found.items() if each.source in own}


async def test_limits_are_set_and_taken_away(kafka: EmbeddedBroker) -> None:
    async with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        (await admin.create_topics(["t"])).check()
        partition = TopicPartition("t", 0)
        await set_throttles(admin, {partition: [0]}, {partition: [0]}, 1000)
        topic, node = ConfigResource.topic("t"), ConfigResource.broker(0)
        assert (await own_settings(admin, topic))["leader.replication.throttled.replicas"] == "0:0"
        assert "1000" in (await own_settings(admin, node)).values()
        said: list[str] = []
        await clear_throttles(admin, ["t"], said.append)
        assert said[1] == "Clearing topic-level throttles on topic t"
        assert await own_settings(admin, topic) == {}
        assert await own_settings(admin, node) == {}
