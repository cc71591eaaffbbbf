"""Limits on what brokers copy while partitions move: set before, taken away after."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Union

from moldau.client.admin.configs import ConfigChange, ConfigOperation, ConfigResource, ConfigsArea
from moldau.client.admin.connected import Connected
from moldau.client.admin.description import DescriptionArea
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin

RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
_DIRECTORY_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
THROTTLED_REPLICAS = (
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)

Plan = Mapping[TopicPartition, Sequence[int]]


class ThrottleAdmin(ConfigsArea, DescriptionArea, Connected):
    """What throttles need of an admin client."""


Throttling = Union[ThrottleAdmin, "Admin"]


async def set_throttles(admin: Throttling, before: Plan, after: Plan, rate: int) -> None:
    """Let leaders send to, and new replicas fetch, at most so many bytes per second."""
    brokers = sorted(
        {broker for plan in (before, after) for each in plan.values() for broker in each}
    )
    changes = {
        ConfigResource.broker(each): [ConfigChange(name, str(rate)) for name in RATES]
        for each in brokers
    }
    for topic in dict.fromkeys(each.topic for each in after):
        limits = throttled_replicas(topic, before, after)
        changes[ConfigResource.topic(topic)] = [ConfigChange(*each) for each in limits.items()]
    (await admin.incremental_alter_configs(changes)).check()


async def set_directory_throttle(admin: Throttling, brokers: Iterable[int], rate: int) -> None:
    """Let brokers copy between their directories at most so many bytes per second."""
    change = [ConfigChange(_DIRECTORY_RATE, str(rate))]
    changes = {ConfigResource.broker(each): change for each in sorted(set(brokers))}
    (await admin.incremental_alter_configs(changes)).check()


async def clear_throttles(
    admin: Throttling, topics: Iterable[str], say: Callable[[str], None]
) -> None:
    """Take all such limits away."""
    brokers = sorted(each.node_id for each in (await admin.describe_cluster()).brokers)
    say(f"Clearing broker-level throttles on broker{_plural(brokers)}")
    names = list(topics)
    say(f"Clearing topic-level throttles on topic{_plural(names)}")
    changes = {ConfigResource.broker(each): _deletions(*RATES, _DIRECTORY_RATE) for each in brokers}
    changes |= {ConfigResource.topic(name): _deletions(*THROTTLED_REPLICAS) for name in names}
    (await admin.incremental_alter_configs(changes)).check()


def throttled_replicas(topic: str, before: Plan, after: Plan) -> dict[str, str]:
    """The settings of a topic that say of which replicas the limits are."""
    leaders, followers = THROTTLED_REPLICAS
    return {leaders: _listed(topic, before), followers: _listed(topic, _added(before, after))}


def _deletions(*names: str) -> list[ConfigChange]:
    return [ConfigChange(name, operation=ConfigOperation.DELETE) for name in names]


def _added(before: Plan, after: Plan) -> Plan:
    return {
        each: [broker for broker in brokers if broker not in before.get(each, ())]
        for each, brokers in after.items()
    }


def _listed(topic: str, plan: Plan) -> str:
    """Partitions with brokers as such settings have them: 0:1,0:2."""
    return ",".join(
        f"{each.partition}:{broker}"
        for each, brokers in sorted(plan.items())
        if each.topic == topic
        for broker in brokers
    )


def _plural(items: Sequence[object]) -> str:
    return ("s " if len(items) > 1 else " ") + ",".join(map(str, items))
