"""A follower's fetch session with a leader: only what changes is said again (KIP-227)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.fetch import FetchPartition, FetchTopic, ForgottenTopic

NO_SESSION = 0
FIRST_EPOCH = 0
_EPOCH_MAX = 2**31 - 1
_ENDED = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)


class Key(NamedTuple):
    """A partition as a request names it: by its topic's name, or by its topic's id."""

    topic: str | bytes
    partition: int


class FetchPosition(NamedTuple):
    """Where a partition is to be read from."""

    leader_epoch: int
    offset: int
    last_epoch: int
    log_start_offset: int
    max_bytes: int


class Said(NamedTuple):
    """What was last sent to the leader about a partition."""

    key: Key
    wanted: FetchPosition


class ReplicaFetchSession:
    """What the leader remembers of this follower's partitions."""

    def __init__(self) -> None:
        self.session_id = NO_SESSION
        self.epoch = FIRST_EPOCH
        self.uses_ids = False
        self._said: dict[TopicPartition, Said] = {}
        self._names: dict[tuple[str | bytes, int], TopicPartition] = {}

    def __len__(self) -> int:
        return len(self._said)

    @property
    def is_fresh(self) -> bool:
        """Whether the next request has to say everything."""
        return self.epoch == FIRST_EPOCH

    def next(
        self, changes: Mapping[TopicPartition, Said | None], *, uses_ids: bool
    ) -> tuple[list[FetchTopic], list[ForgottenTopic]]:
        """What the next request says of partitions, and what it takes back (None)."""
        assert self.is_fresh or uses_ids == self.uses_ids
        self.uses_ids = uses_ids
        topics: dict[str | bytes, FetchTopic] = {}
        gone: list[Key] = []
        for name, said in changes.items():
            before = self._said.get(name)
            if before is not None and (said is None or before.key != said.key):
                gone.append(before.key)
                del self._said[name], self._names[before.key]
            if said is not None and said != before:
                key, wanted = said
                topic = topics.get(key.topic)
                if topic is None:
                    topic = topics[key.topic] = _topic(key.topic)
                topic.partitions.append(_partition(key.partition, wanted))
                self.say(name, said)
        return list(topics.values()), _forgotten(gone)

    def say(self, name: TopicPartition, said: Said) -> None:
        """Note that the next request says this of a partition."""
        self._said[name] = said
        self._names[said.key] = name

    def key_of(self, name: TopicPartition) -> Key | None:
        """The key of a partition in the session; None if it was not sent to the leader."""
        said = self._said.get(name)
        return None if said is None else said.key

    def is_news(self, name: TopicPartition, said: Said) -> bool:
        """Whether this differs from what was last sent about a partition."""
        return said != self._said.get(name)

    def asked(self, key: tuple[str | bytes, int]) -> tuple[TopicPartition, FetchPosition] | None:
        """Which partition the leader answers for, and what it was asked of it."""
        name = self._names.get(key)
        return None if name is None else (name, self._said[name].wanted)

    def answered(self, session_id: int) -> None:
        """The leader took the request, and may have opened a session."""
        self.session_id = session_id
        if session_id == NO_SESSION:
            self.restart()
        else:
            self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1

    @staticmethod
    def is_over(code: int) -> bool:
        """Whether an error says that the leader has no such session: another one will do."""
        return code in _ENDED

    def restart(self) -> None:
        """Nothing is sure any more: say everything again, in a new session."""
        self.epoch = FIRST_EPOCH
        self._said = {}
        self._names = {}


def _topic(topic: str | bytes) -> FetchTopic:
    if isinstance(topic, str):
        return FetchTopic(topic=topic, partitions=[])
    return FetchTopic(topic_id=topic, partitions=[])


def _forgotten_topic(topic: str | bytes) -> ForgottenTopic:
    if isinstance(topic, str):
        return ForgottenTopic(topic=topic, partitions=[])
    return ForgottenTopic(topic_id=topic, partitions=[])


def _partition(number: int, want: FetchPosition) -> FetchPartition:
    return FetchPartition(
        partition=number,
        current_leader_epoch=want.leader_epoch,
        fetch_offset=want.offset,
        last_fetched_epoch=want.last_epoch,
        log_start_offset=want.log_start_offset,
        partition_max_bytes=want.max_bytes,
    )


def _forgotten(gone: Iterable[Key]) -> list[ForgottenTopic]:
    topics: dict[str | bytes, ForgottenTopic] = {}
    for topic, number in gone:
        found = topics.get(topic)
        if found is None:
            found = topics[topic] = _forgotten_topic(topic)
        found.partitions.append(number)
    return list(topics.values())
