"""Partitions that the option `--topic` names: a topic, or some of its partitions."""

from collections.abc import Iterable

from moldau.cli.terminal.failure import CommandFailed
from moldau.client.admin.connected import Connected
from moldau.client.admin.description import DescriptionArea
from moldau.client.admin.group_offsets import GroupOffsetsArea
from moldau.client.admin.groups import GroupsArea
from moldau.client.admin.offsets import OffsetsArea
from moldau.client.admin.topics import TopicsArea
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition


class GroupAdmin(GroupsArea, GroupOffsetsArea, OffsetsArea, TopicsArea, DescriptionArea, Connected):
    """What commands about groups need of an admin client."""


async def wanted_partitions(admin: TopicsArea, topics: Iterable[str]) -> list[TopicPartition]:
    """All partitions of `t`, or those numbered in `t:0,1`."""
    found: list[TopicPartition] = []
    whole: list[str] = []
    for text in topics:
        topic, colon, numbers = text.rpartition(":")
        if colon:
            found += [TopicPartition(topic, _number(each, text)) for each in numbers.split(",")]
        else:
            whole.append(text)
    if whole:
        described = await admin.describe_topics(whole)
        for name in whole:
            if name in described.errors:
                reason = f"topic {name} does not exist"
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
            found += [TopicPartition(name, each.partition) for each in described[name].partitions]
    return found


def _number(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise CommandFailed(f"Invalid partition '{text}' in --topic {option}") from None
