"""The current leader, sent to a client with the error that it asked the wrong broker.

KIP-951: saves the client a Metadata request.
"""

from collections.abc import Iterator

from moldau.broker.context import Client
from moldau.broker.membership.advertised import advertised_endpoint
from moldau.errors import ErrorCode
from moldau.metadata.image import NO_LEADER, BrokerNode, ClusterImage, PartitionImage

_WRONG_LEADER = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class LeaderHints:
    """The leaders that one answer mentions."""

    def __init__(self, image: ClusterImage, client: Client) -> None:
        self._image = image
        self._client = client
        self._mentioned: dict[int, None] = {}

    def leader_for(self, error_code: int, topic: str, partition: int) -> PartitionImage | None:
        """The partition as it is led now, if the error says that the client does not know."""
        if error_code not in _WRONG_LEADER:
            return None
        found = self._image.partition(topic, partition)
        if found is None or found.leader == NO_LEADER:
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
