"""The replica in a consumer's own rack, where it should rather read (KIP-392)."""

from moldau.broker.requests.reads import PartitionRead
from moldau.metadata.image import ClusterImage
from moldau.replication.read_replica import nearest


class NearestReplica:
    """Sends one consumer to followers in its rack."""

    def __init__(self, image: ClusterImage, listener: str, rack: str) -> None:
        """Only brokers that the consumer can reach by its listener count."""
        self._rack = rack
        self._racks = {
            node.id: node.rack for node in image.brokers.values() if listener in node.endpoints
        }

    def refer(self, read: PartitionRead) -> None:
        """Send the consumer to a follower, if this broker leads and one is nearer."""
        partition = read.partition
        assert partition is not None  # or there would be an error
        if partition.is_leader:
            offset = read.want.fetch_offset
            replica = nearest(partition, offset, self._rack, self._racks)
            if replica is not None:
                read.refer_to(replica)
