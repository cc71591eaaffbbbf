"""The topics of an application: what it reads, and what brokers have to make for it."""

from collections.abc import Iterable, Mapping

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.errors import ErrorCode
from moldau.streams.compile.edges import topic_name
from moldau.streams.nodes.nodes import GlobalTableSource, InternalTopic, Node, Source
from moldau.streams.topology import Topology


def internal_topics(topology: Topology, application: str) -> tuple[str, ...]:
    """Changelogs, which are the application's own; other topics are the user's."""
    return tuple(
        node.topic.of(application)
        for node in topology.sinks
        if isinstance(node.topic, InternalTopic)
    )


def topics_read(nodes: Iterable[Node], application: str) -> tuple[str, ...]:
    """The topics that these nodes read as streams; global tables are read anew each time."""
    found = [
        topic_name(topic, application)
        for node in nodes
        if isinstance(node, Source) and not isinstance(node, GlobalTableSource)
        for topic in node.topics
    ]
    return tuple(dict.fromkeys(found))


async def prepare(
    settings: Mapping[str, str], created: Iterable[str], read: Iterable[str]
) -> dict[str, int]:
    """Make changelogs that are not there; returns how many partitions topics have."""
    wanted = [NewTopic(name, configs={"cleanup.policy": "compact"}) for name in created]
    async with Admin(settings) as admin:
        outcomes = await admin.create_topics(wanted)
        for error in outcomes.errors.values():
            if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                raise error
        return await partition_counts(admin, read)


async def partition_counts(admin: Admin, topics: Iterable[str]) -> dict[str, int]:
    """Of those topics that are there: the source reports what it misses."""
    described = (await admin.describe_topics(topics)).succeeded
    return {name: len(each.partitions) for name, each in described.items()}
