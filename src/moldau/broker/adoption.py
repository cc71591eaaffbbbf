"""Logs that the tree knows nothing of: a log directory that was another broker's.

A directory written by Apache Kafka has its topics in ZooKeeper, not in itself. With an
empty embedded store the topics are found again in the names of the directories and, for
their ids, in `partition.metadata`.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping

from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity, encode_config
from moldau.coordination.layout.topics import PartitionAssignment, PartitionState, TopicAssignment
from moldau.coordination.tree import Create, Tree
from moldau.log.log import Log
from moldau.model import format_uuid

_log = logging.getLogger(__name__)


async def adopt_topics(
    tree: Tree,
    logs: Iterable[Log],
    *,
    broker_id: int,
    new_uuid: Callable[[], bytes],
    overrides_of: Callable[[str], Mapping[str, str]],
) -> list[str]:
    """Create the topics of these logs in a tree without any; returns their names.

    `overrides_of` gives the settings of topics that do not have the broker's own.
    """
    if await tree.children(topic_nodes.PATH):
        return []
    topics: dict[str, dict[int, Log]] = {}
    for log in logs:
        topics.setdefault(log.partition.topic, {})[log.partition.partition] = log
    for name, partitions in topics.items():
        ids = [log.topic_id for log in partitions.values() if log.topic_id is not None]
        alone = PartitionAssignment(replicas=(broker_id,))
        assignment = TopicAssignment(
            partitions=dict.fromkeys(range(max(partitions) + 1), alone),
            topic_id=format_uuid(ids[0] if ids else new_uuid()),
        )
        await tree.multi(
            [
                Create(ConfigEntity.topic(name).path, encode_config(overrides_of(name))),
                Create(topic_nodes.topic_path(name), assignment.encode()),
                Create(topic_nodes.partitions_path(name)),
                *(node for log in partitions.values() for node in _state_nodes(log, broker_id)),
            ]
        )
    if topics:
        _log.info("adopted %d topics found in the log directories", len(topics))
    return list(topics)


def _state_nodes(log: Log, broker_id: int) -> Iterator[Create]:
    """Who leads: this broker, in the epoch after the last one that the log knows.

    A new partition would begin with epoch 0, and followers and clients would take records
    of it for older than those which are there.
    """
    latest = log.epochs.latest
    state = PartitionState(
        leader=broker_id,
        leader_epoch=0 if latest is None else latest.epoch + 1,
        isr=(broker_id,),
        controller_epoch=0,
    )
    yield Create(topic_nodes.partition_path(log.partition))
    yield Create(topic_nodes.state_path(log.partition), state.encode())
