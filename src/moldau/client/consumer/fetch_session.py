"""A fetch session with one broker: only what changes is said again (KIP-227)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from moldau.model import NO_LEADER_EPOCH, TopicPartition
from moldau.protocol.messages.fetch import FetchPartition, FetchTopic, ForgottenTopic

NO_SESSION = 0
FIRST_EPOCH = 0
_EPOCH_MAX = 2**31 - 1


class ReadPosition(NamedTuple):
    """From where a partition is read, and in which epoch its leader is thought to be.

    A broker that knows of another epoch refuses (KIP-320).
    """

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH


class FetchSession:
    """What the broker remembers of this consumer: its partitions, and from where they are read."""

    def __init__(self) -> None:
        self.session_id = NO_SESSION
        self.epoch = FIRST_EPOCH
        self._known: dict[TopicPartition, ReadPosition] = {}
        self._asked: dict[TopicPartition, ReadPosition] = {}

    def topics(
        self, wanted: Mapping[TopicPartition, ReadPosition], size_max: int
    ) -> list[FetchTopic]:
        """What the next request says of the partitions that are wanted, from these places."""
        self._asked = dict(wanted)
        topics: dict[str, list[FetchPartition]] = {}
        for partition, place in wanted.items():
            if self.epoch != FIRST_EPOCH and self._known.get(partition) == place:
                continue
            topics.setdefault(partition.topic, []).append(
                FetchPartition(
                    partition=partition.partition,
                    current_leader_epoch=place.leader_epoch,
                    fetch_offset=place.offset,
                    partition_max_bytes=size_max,
                )
            )
        return [FetchTopic(topic=topic, partitions=each) for topic, each in topics.items()]

    def forgotten(self) -> list[ForgottenTopic]:
        """What the next request takes back; to be asked after `topics`."""
        if self.epoch == FIRST_EPOCH:
            return []
        gone = [partition for partition in self._known if partition not in self._asked]
        return _by_topic(gone)

    def answered(self, session_id: int) -> None:
        """The broker took the request, and may have opened a session."""
        self.session_id = session_id
        self._known = self._asked
        if session_id == NO_SESSION:
            self.epoch = FIRST_EPOCH
        else:
            self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1

    def restart(self) -> None:
        """Nothing is sure any more: say everything again, in a new session."""
        self.epoch = FIRST_EPOCH
        self._known = {}


def _by_topic(partitions: Iterable[TopicPartition]) -> list[ForgottenTopic]:
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return [ForgottenTopic(topic=topic, partitions=each) for topic, each in topics.items()]
