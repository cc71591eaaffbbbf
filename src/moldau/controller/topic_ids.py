"""Ids for topics that have none, since they were made when brokers knew of none."""

import logging
from collections.abc import Callable

from moldau.controller.cluster import ClusterPicture
from moldau.controller.state_nodes import StateNodes
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout.topics import TopicAssignment
from moldau.model import format_uuid, parse_uuid

_log = logging.getLogger(__name__)


async def give_ids(
    cluster: ClusterPicture, reader: TreeReader, nodes: StateNodes, new_id: Callable[[], bytes]
) -> None:
    """Write an id into the node of every topic without one."""
    for name, topic in cluster.topics.items():
        while topic.topic_id is None:
            found = await reader.assignment(name)
            if found is None:
                break  # The topic is gone: a watch will report that.
            written, version = found
            text = written.topic_id or format_uuid(new_id())
            changed = TopicAssignment(partitions=written.partitions, topic_id=text)
            if await nodes.write_topic(name, changed, version):
                topic.topic_id = parse_uuid(text)
                _log.info("Assigned to topic %s the id %s", name, text)
