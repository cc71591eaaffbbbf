"""What the tree says about brokers and topics, as far as it can be parsed.

A node that is broken, by another version or by hand, is logged and left out: one of them
must not keep a controller from serving all the others.
"""

import logging

from moldau.controller.cluster import LeaderIsr, Listening, LiveBroker, ReplicaAssignment, Topic
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout import log_dirs as log_dir_nodes
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.cluster import FEATURE_PATH, FeatureNode, decode_features
from moldau.coordination.layout.configs import ConfigEntity, decode_config
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.tree import NoNode, Tree, Watch
from moldau.model import TopicPartition, parse_uuid

_log = logging.getLogger(__name__)

SECURITY_PROTOCOLS = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}


class TreeReader:
    """Reads nodes into the controller's own terms."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    async def brokers(self, watch: Watch) -> dict[int, LiveBroker]:
        """The registered brokers; the watch waits for others, and for what they change."""
        found = {}
        for name in await self._children(broker_nodes.IDS_PATH, watch):
            # A broker that listens elsewhere from now on says so in its node.
            broker = await self.broker(name, watch)
            if broker is not None:
                found[broker.id] = broker
        return found

    async def broker(self, name: str, watch: Watch | None = None) -> LiveBroker | None:
        """A registered broker; None if it is not there any more, or cannot be parsed."""
        try:
            broker_id = int(name)
            node = await self._tree.get(broker_nodes.id_path(broker_id), watch=watch)
            registration = broker_nodes.decode_broker(node.data)
        except NoNode:
            return None
        except (NodeDataError, ValueError) as error:
            _log.warning("Failed to parse broker node %s: %s", name, error)
            return None
        return _live_broker(broker_id, node.stat.czxid, registration)

    async def topic_names(self, watch: Watch) -> list[str]:
        """All topics; the watch waits for others."""
        return await self._children(topic_nodes.PATH, watch)

    async def deletions(self, watch: Watch) -> list[str]:
        """The topics that are marked for deletion; the watch waits for others."""
        return await self._children(partition_lists.DELETE_TOPICS_PATH, watch)

    async def isr_changes(self, watch: Watch | None) -> dict[str, list[TopicPartition]]:
        """Partitions with other in-sync sets, by the nodes that say so; waits for others."""
        found: dict[str, list[TopicPartition]] = {}
        for path, data in await self._notifications(partition_lists.ISR_CHANGES_PATH, watch):
            try:
                found[path] = partition_lists.decode_partitions(data)
            except NodeDataError as error:
                _log.warning("Failed to parse notification %s: %s", path, error)
                found[path] = []
        return found

    async def log_dir_failures(self, watch: Watch | None) -> dict[str, int | None]:
        """Brokers with failed log directories, by the nodes that say so; waits for others."""
        found: dict[str, int | None] = {}
        for path, data in await self._notifications(log_dir_nodes.EVENTS_PATH, watch):
            try:
                found[path] = log_dir_nodes.decode_log_dir_failure(data)
            except NodeDataError as error:
                _log.warning("Failed to parse notification %s: %s", path, error)
                found[path] = None
        return found

    async def preferred_elections(self, watch: Watch) -> list[TopicPartition] | None:
        """The partitions that an administrator's node asks elections for; None without one."""
        data = await self._asked(partition_lists.PREFERRED_ELECTION_PATH, watch)
        try:
            return None if data is None else partition_lists.decode_partitions(data)
        except NodeDataError as error:
            _log.warning("Failed to parse requested elections: %s", error)
            return None

    async def reassignments(self, watch: Watch) -> dict[TopicPartition, tuple[int, ...]] | None:
        """Where an administrator's node wants partitions to be; None without one."""
        data = await self._asked(partition_lists.REASSIGNMENT_PATH, watch)
        try:
            return None if data is None else partition_lists.decode_reassignment(data)
        except NodeDataError as error:
            _log.warning("Failed to parse requested reassignments: %s", error)
            return None

    async def _asked(self, path: str, watch: Watch) -> bytes | None:
        # A missing node can only be waited for by asking whether it exists.
        if await self._tree.exists(path, watch=watch) is None:
            return None
        try:
            return (await self._tree.get(path)).data
        except NoNode:
            return None

    async def _notifications(self, path: str, watch: Watch | None) -> list[tuple[str, bytes]]:
        found = []
        for name in await self._children(path, watch):
            try:
                node = await self._tree.get(f"{path}/{name}")
            except NoNode:
                continue
            found.append((f"{path}/{name}", node.data))
        return found

    async def _children(self, path: str, watch: Watch | None) -> list[str]:
        """The children of a node that may have been removed; the watch waits in any case."""
        while True:
            try:
                return await self._tree.children(path, watch=watch)
            except NoNode:
                if await self._tree.exists(path, watch=watch) is None:
                    return []

    async def topic(self, name: str, watch: Watch) -> Topic | None:
        """A topic's partitions, None if there are none to be had; the watch waits for changes."""
        try:
            node = await self._tree.get(topic_nodes.topic_path(name), watch=watch)
            topic = topic_nodes.decode_topic(node.data)
            topic_id = None if topic.topic_id is None else parse_uuid(topic.topic_id)
        except NoNode:
            return None
        except (NodeDataError, ValueError) as error:
            _log.warning("Failed to parse topic node %s: %s", name, error)
            return None
        partitions = {
            number: ReplicaAssignment(one.replicas, one.adding, one.removing)
            for number, one in sorted(topic.partitions.items())
            if one.replicas
        }
        return Topic(topic_id, partitions)

    async def features(self) -> FeatureNode | None:
        """Whether features are finalized, None if no node says so."""
        try:
            node = await self._tree.get(FEATURE_PATH)
            return decode_features(node.data)
        except NoNode:
            return None
        except NodeDataError as error:
            _log.warning("Failed to parse %s: %s", FEATURE_PATH, error)
            return None

    async def settings(self, topic: str) -> dict[str, str] | None:
        """What a topic has been set to, or None if that cannot be parsed."""
        try:
            node = await self._tree.get(ConfigEntity.topic(topic).path)
            return decode_config(node.data)
        except NoNode:
            return {}
        except NodeDataError as error:
            _log.warning("Failed to parse settings of topic %s: %s", topic, error)
            return None

    async def assignment(self, name: str) -> tuple[topic_nodes.TopicAssignment, int] | None:
        """A topic's node as it stands, with its version; None if there is none to be had."""
        try:
            node = await self._tree.get(topic_nodes.topic_path(name))
            return topic_nodes.decode_topic(node.data), node.stat.version
        except (NoNode, NodeDataError):
            return None

    async def state(self, partition: TopicPartition) -> tuple[LeaderIsr, int] | None:
        """The leader of a partition, and the transaction by which it was written last.

        None if it never had one.
        """
        try:
            node = await self._tree.get(topic_nodes.state_path(partition))
            state = topic_nodes.decode_state(node.data)
        except NoNode:
            return None
        except NodeDataError as error:
            _log.warning("Failed to parse state of %s: %s", partition, error)
            return None
        stat = node.stat
        found = LeaderIsr(
            state.leader, state.leader_epoch, state.isr, state.controller_epoch, stat.version
        )
        return found, stat.mzxid


def _live_broker(
    broker_id: int, epoch: int, registration: broker_nodes.BrokerRegistration
) -> LiveBroker:
    endpoints = tuple(
        Listening(
            one.listener, one.host, one.port, SECURITY_PROTOCOLS.get(one.security_protocol, 0)
        )
        for one in registration.endpoints
    )
    return LiveBroker(broker_id, epoch, endpoints, registration.rack)
