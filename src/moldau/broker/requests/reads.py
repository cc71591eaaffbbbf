"""Reading for one Fetch request: several partitions under common limits.

This file runs as it stands and is also compiled as `_reads`, with the types of `_reads.pxd`.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from moldau.broker.requests.fetch_request import CONSUMER, PartitionKey, Wanted
from moldau.errors import ErrorCode, KafkaError
from moldau.log.leader_epochs import UNKNOWN_EPOCH, EpochEnd
from moldau.log.transaction_index import AbortedTransaction
from moldau.model import NO_LEADER_EPOCH, TopicPartition
from moldau.replication.partition import Partition
from moldau.replication.replicas import Replicas
from moldau.replication.throttle import Throttle
from moldau.runtime.file_range import FileRange

NO_REPLICA = -1


class ReadTerms(NamedTuple):
    """What holds for all partitions of a request."""

    max_bytes: int
    replica_id: int
    is_read_committed: bool
    # Since version 3 the first batch comes whole, however large, so that readers get on.
    at_least_one: bool
    # Since version 11 consumers may read from followers (KIP-392).
    may_read_follower: bool = False
    # A follower that consumers read from gets a high watermark as soon as it moves.
    follows_high_watermark: bool = False
    # Holds up followers that are catching up.
    throttle: Throttle | None = None
    now_ms: int = 0
    # Whether the reader may not read a topic; None if everyone may read everything.
    is_denied: Callable[[str], bool] | None = None

    @property
    def is_follower(self) -> bool:
        return self.replica_id >= 0


class PartitionRead:
    """One partition of a request: what is asked, what it gave, and what the answer says of it."""

    __slots__ = (
        "aborted", "diverging", "error", "high_watermark", "key", "last_stable_offset",
        "log_start_offset", "name", "partition", "preferred_replica", "records", "want",
    )  # fmt: skip

    def __init__(
        self, key: PartitionKey | TopicPartition, name: TopicPartition | None, want: Wanted
    ) -> None:
        """`name` is None if the topic's id is not known."""
        self.key = key
        self.name = name
        self.want = want
        self.error: KafkaError | None = None
        self.partition: Partition | None = None
        self.aborted: list[AbortedTransaction] | None = None
        # Where the reader's log and this one part: it must truncate before it can go on.
        self.diverging: EpochEnd | None = None
        # Where a consumer should rather read, if not here.
        self.preferred_replica = NO_REPLICA
        # What is sent: the range of the file, unless it was rewritten for an old client.
        self.records: FileRange | bytes | bytearray | None = None
        # As they are when the request is answered; -1 with an error.
        self.high_watermark = self.last_stable_offset = self.log_start_offset = -1

    @property
    def size(self) -> int:
        return 0 if self.records is None else len(self.records)

    @property
    def has_records(self) -> bool:
        return bool(self.records)

    @property
    def error_code(self) -> int:
        return ErrorCode.NONE if self.error is None else self.error.code

    @property
    def has_hint(self) -> bool:
        """Whether there is more to say than records or an error."""
        return self.diverging is not None or self.preferred_replica != NO_REPLICA

    @property
    def is_answer_due(self) -> bool:
        """Whether the reader must get it, however little there is to read."""
        return self.error is not None or self.has_hint

    def refer_to(self, replica: int) -> None:
        """Send the reader to another replica, with nothing to read."""
        self.preferred_replica = replica
        self.records = self.aborted = None

    def fail(self, error: KafkaError) -> None:
        """The answer is an error, and nothing else."""
        self.error = error.kept()
        self.records = self.aborted = self.diverging = None

    def take_bounds(self) -> None:
        """The answer says where the log begins and ends now."""
        assert self.partition is not None
        log = self.partition.log
        self.high_watermark = log.high_watermark
        self.last_stable_offset = log.last_stable_offset
        self.log_start_offset = log.log_start_offset


class PartitionReader:
    """Reads one partition after the other, until the bytes are used up."""

    __slots__ = ("_at_least_one", "_remaining", "_replicas", "_terms")

    def __init__(self, replicas: Replicas, terms: ReadTerms) -> None:
        self._replicas = replicas
        self._terms = terms
        self._remaining = terms.max_bytes
        self._at_least_one = terms.at_least_one

    def read(self, read: PartitionRead) -> None:
        """Read the next partition, perhaps not for the first time; an error is its own."""
        terms, want = self._terms, read.want
        read.error = read.partition = read.diverging = read.records = read.aborted = None
        read.preferred_replica = NO_REPLICA
        try:
            partition = read.partition = find(self._replicas, read, terms)
            if want.last_fetched_epoch != NO_LEADER_EPOCH:
                read.diverging = _divergence(partition, want)
            if read.diverging is None and not is_held_up(partition, terms):
                self._read(read, partition)
        except KafkaError as error:
            read.fail(error)

    def _read(self, read: PartitionRead, partition: Partition) -> None:
        terms, want, log = self._terms, read.want, partition.log
        is_committed = terms.is_read_committed and terms.replica_id == CONSUMER
        if is_committed:
            read.aborted = []
        end_offset = end_of(partition, terms)
        offset = want.fetch_offset
        if end_offset <= offset <= log.log_end_offset and log.log_start_offset <= offset:
            # At the end, or between the high watermark and the end: nothing for consumers yet.
            return
        fetched = log.read(
            offset,
            max_bytes=max(0, min(want.max_bytes, self._remaining)),
            end_offset=end_offset,
            at_least_one=self._at_least_one,
        )
        if fetched.range is None or (fetched.is_first_batch_cut and terms.at_least_one):
            # Nothing to use before the next request; a part of a batch would look like
            # one that is too large for the reader.
            return
        read.records = fetched.range
        self._at_least_one = False
        self._remaining -= fetched.range.size
        if is_committed:
            read.aborted = log.aborted_in(fetched)


def read_all(replicas: Replicas, reads: Iterable[PartitionRead], terms: ReadTerms) -> None:
    """Read each partition in turn, until the bytes are used up."""
    reader = PartitionReader(replicas, terms)
    for read in reads:
        reader.read(read)


def find(replicas: Replicas, read: PartitionRead, terms: ReadTerms) -> Partition:
    """The partition that is asked for, if it may be read here on these terms.

    Whatever keeps a reader from a partition is checked here, at every read, and nowhere else.
    """
    if read.name is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
    if terms.is_denied is not None and terms.is_denied(read.name.topic):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    epoch = read.want.current_leader_epoch
    if terms.may_read_follower:
        partition = replicas.replica(read.name)
        partition.require_epoch(epoch)
    else:
        partition = replicas.leader(read.name, epoch)
    topic = read.key[0]
    if isinstance(topic, bytes) and partition.log.topic_id not in (None, topic):
        raise KafkaError(ErrorCode.INCONSISTENT_TOPIC_ID)
    if terms.is_follower and terms.replica_id not in partition.followers:
        message = f"broker {terms.replica_id} is not a replica of {read.name}"
        # With the right epoch the follower may know of a reassignment before we do.
        code = (
            ErrorCode.NOT_LEADER_OR_FOLLOWER
            if epoch == NO_LEADER_EPOCH
            else ErrorCode.UNKNOWN_LEADER_EPOCH
        )
        raise KafkaError(code, message)
    return partition


def is_held_up(partition: Partition, terms: ReadTerms) -> bool:
    """Whether a follower gets nothing now, because others of its kind have had enough."""
    if terms.throttle is None or terms.replica_id in partition.state.isr:
        return False
    return terms.throttle.holds_up(partition, now_ms=terms.now_ms)


def is_high_watermark_news(partition: Partition, terms: ReadTerms) -> bool:
    """Whether the high watermark last sent to the follower that reads is lower."""
    return partition.followers[terms.replica_id].high_watermark < partition.log.high_watermark


def end_of(partition: Partition, terms: ReadTerms) -> int:
    """Up to where a partition may be read on these terms."""
    log = partition.log
    if terms.replica_id != CONSUMER:
        # No follower may have what this leader could still lose, and then lead without.
        return log.settled_end_offset()
    return log.last_stable_offset if terms.is_read_committed else log.high_watermark


def _divergence(partition: Partition, want: Wanted) -> EpochEnd | None:
    """Where this log and the reader's part, if they do (KIP-595)."""
    log = partition.log
    end = log.end_offset_for_epoch(want.last_fetched_epoch)
    if end == UNKNOWN_EPOCH or want.fetch_offset < log.log_start_offset:
        message = f"nothing is known of epoch {want.last_fetched_epoch} at {want.fetch_offset}"
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, message)
    if end.epoch < want.last_fetched_epoch or end.end_offset < want.fetch_offset:
        return end
    return None
