"""A follower's fetch session, seen from its leader: only what has changed is looked at.

A follower has thousands of partitions in a session, of which a few change at a time.
Each request names those whose offsets have moved; the watch names those that something has
happened to here. All others are as they were: the follower asked for their end, and it
still is the end. That they are idle is only recorded when the broker checks how late
the follower is.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from moldau.broker.requests.fetch_request import PartitionKey, Wanted
from moldau.broker.requests.fetch_sessions import Fetch, FetchSessions
from moldau.broker.requests.reads import PartitionRead, ReadTerms, end_of
from moldau.model import TopicPartition
from moldau.replication.partition import Partition
from moldau.replication.read_replica import selects_by_rack
from moldau.replication.replicas import Replicas
from moldau.runtime.waiters import Waiters, Watch

if TYPE_CHECKING:
    from moldau.broker.broker import Broker


class FollowerSession:
    """The partitions of one session, and which of them are to be looked at."""

    def __init__(self, replica_id: int, watch: Watch, replicas: Replicas) -> None:
        self.replica_id = replica_id
        self.watch = watch
        self._replicas = replicas
        self._names: dict[PartitionKey, TopicPartition | None] = {}
        self._keys: dict[TopicPartition, PartitionKey] = {}
        self._due: dict[PartitionKey, None] = {}
        self._asked_ms = 0

    def begin(self, fetch: Fetch, names_by_id: Mapping[bytes, str], *, now_ms: int) -> None:
        """A request has come: take in what it says."""
        if not self._names:
            changed = fetch.wanted
        else:
            changed = fetch.changed
            self._look_at_news()
        self._asked_ms = now_ms
        for key in fetch.forgotten:
            self._forget(key)
        # A broker that has just started learns of topics after its followers fetch them.
        unknown = [key for key in self._due if self._names.get(key) is None]
        for key in (*changed, *unknown):
            topic, number = key
            name = topic if isinstance(topic, str) else names_by_id.get(topic)
            partition = None if name is None else TopicPartition(name, number)
            if self._names.get(key) != partition:
                self._forget(key)
            self._names[key] = partition
            if partition is not None:
                self._keys[partition] = key
                self.watch.add(partition)
            self._due[key] = None

    def due(self, fetch: Fetch) -> Iterator[tuple[PartitionKey, TopicPartition | None, Wanted]]:
        """What is to be read now, and again until the request is answered.

        A partition has no name as long as its topic's id is not known.
        """
        self._look_at_news()
        for key in self._due:
            want = fetch.want(key)
            if want is not None:
                yield key, self._names[key], want

    def note_read(self, reads: Mapping[PartitionKey, PartitionRead], *, now_ms: int) -> None:
        """These partitions were read: the follower is behind where there was something."""
        for read in reads.values():
            if read.error is None and read.diverging is None and read.partition is not None:
                follower = read.partition.followers.get(self.replica_id)
                if follower is not None:  # or it has lost the partition since it was read
                    follower.note_read(read.partition.log.log_end_offset, now_ms)

    def end(self, reads: Mapping[PartitionKey, PartitionRead], terms: ReadTerms) -> None:
        """The request is answered; what the follower still lacks is looked at with the next.

        That includes what it is sent now: it might not be able to use it.
        """
        self._due = {
            key: None for key, read in reads.items() if read.is_answer_due or _lacks(read, terms)
        }

    def note_idle(self, partition: Partition) -> None:
        """Write down that the follower has asked for the end of a partition, if it has."""
        key = self._keys.get(partition.topic_partition)
        follower = partition.followers.get(self.replica_id)
        if key is not None and follower is not None:
            follower.note_idle(self._asked_ms)

    def _look_at_news(self) -> None:
        for name in self.watch.take():
            assert isinstance(name, TopicPartition)
            self._due[self._keys[name]] = None
            partition = self._replicas.find(name)
            if partition is not None:
                # Until now there was none.
                self.note_idle(partition)

    def _forget(self, key: PartitionKey) -> None:
        self._due.pop(key, None)
        name = self._names.pop(key, None)
        if name is not None and self._keys.get(name) == key:
            del self._keys[name]
            self.watch.remove(name)


class FollowerSessions:
    """The sessions of all followers of this broker."""

    def __init__(self, sessions: FetchSessions, replicas: Replicas, waiters: Waiters) -> None:
        self._sessions = sessions
        self._replicas = replicas
        self._waiters = waiters
        self._followers: dict[int, FollowerSession] = {}

    def of(self, session_id: int, replica_id: int) -> FollowerSession:
        """The session of a follower, which begins with its first incremental request."""
        found = self._followers.get(session_id)
        if found is None or found.replica_id != replica_id:
            if found is not None:
                found.watch.close()
            self._drop_ended()
            found = FollowerSession(replica_id, self._waiters.watch(), self._replicas)
            self._followers[session_id] = found
        return found

    def note_idle(self, partition: Partition) -> None:
        """Bring what is known of a partition's followers up to date."""
        for session in self._followers.values():
            session.note_idle(partition)

    def __contains__(self, session_id: int) -> bool:
        return session_id in self._followers

    def __iter__(self) -> Iterator[FollowerSession]:
        return iter(self._followers.values())

    def _drop_ended(self) -> None:
        for session_id in [one for one in self._followers if one not in self._sessions]:
            self._followers.pop(session_id).watch.close()


def note_fetch(broker: "Broker", read: PartitionRead, terms: ReadTerms) -> None:
    """A follower has what lies before the offset that it asks for."""
    partition, want, replica_id = read.partition, read.want, terms.replica_id
    assert partition is not None
    has_moved = partition.note_fetch(
        replica_id,
        want.fetch_offset,
        log_start_offset=want.log_start_offset,
        now_ms=broker.clock.monotonic_ms(),
    )
    if partition.may_join(replica_id):
        broker.in_sync.look(partition)
    if has_moved:
        # Before the follower itself begins to wait: producers wait for this.
        name = partition.topic_partition
        if selects_by_rack(broker.config.replication.replica_selector_class):
            broker.waiters.wake(name)
        else:
            broker.waiters.wake_committed(name)


def note_sent(
    broker: "Broker", reads: Mapping[PartitionKey, PartitionRead], terms: ReadTerms, *, now_ms: int
) -> None:
    """A follower is about to be sent records, and high watermarks."""
    for read in reads.values():
        if read.error is None and read.partition is not None:
            follower = read.partition.followers.get(terms.replica_id)
            if follower is not None:  # or it has lost the partition since it was read
                follower.high_watermark = read.partition.log.high_watermark
            broker.leader_throttle.record(read.partition, read.size, now_ms=now_ms)


def _lacks(read: PartitionRead, terms: ReadTerms) -> bool:
    assert read.partition is not None
    return read.want.fetch_offset < end_of(read.partition, terms)
