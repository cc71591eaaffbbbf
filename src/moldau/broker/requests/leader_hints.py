"""The current leader, sent to a client with the error that it asked the wrong broker.

KIP-951: saves the client a Metadata request.
"""

from collections.abc import Callable, Iterator

from moldau.broker.context import Client
from moldau.broker.membership.advertised import advertised_endpoint
from moldau.errors import ErrorCode
from moldau.metadata.image import NO_LEADER, BrokerNode, ClusterImage, PartitionImage
from moldau.replication.partition import Partition

_WRONG_LEADER = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)

FindReplica = Callable[[tuple[str, int]], Partition | None]
"""The replica of a topic's partition on this broker."""


def newest(known: PartitionImage, replica: Partition | None) -> PartitionImage:
    """A partition by what the controller said last: a replica learns of leaders before metadata.

    A client that is sent to the last leader in that time may find it gone by then, and look
    elsewhere a second late.
    """
    state = None if replica is None else replica.state
    if state is None or state.leader == NO_LEADER or state.leader_epoch <= known.leader_epoch:
        return known
    return known._replace(leader=state.leader, leader_epoch=state.leader_epoch, isr=state.isr)


class LeaderHints:
    """The leaders that one answer mentions."""

    def __init__(self, image: ClusterImage, client: Client, find_replica: FindReplica) -> None:
        self._image = image
        self._client = client
        self._find_replica = find_replica
        self._mentioned: dict[int, None] = {}

    def leader_for(self, error_code: int, topic: str, partition: int) -> PartitionImage | None:
        """The partition as it is led now, if the error says that the client does not know."""
        if error_code not in _WRONG_LEADER:
            return None
        known = self._image.partition(topic, partition)
        if known is None:
            return None
        found = newest(known, self._find_replica((topic, partition)))
        if found.leader == NO_LEADER:
            return None
        self._mentioned[found.leader] = None
        return found

    def nodes(self) -> Iterator[tuple[BrokerNode, str, int]]:
        """Where the mentioned leaders are reached."""
        for leader in self._mentioned:
            node = self._image.brokers.get(leader)
            if node is None:
                continue
            endpoint = advertised_endpoint(node, self._client)
            if endpoint:
                yield node, endpoint.host, endpoint.port
