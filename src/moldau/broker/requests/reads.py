"""Reading for one Fetch request: several partitions under common limits."""

from collections.abc import Generator, Hashable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from moldau.broker.requests.fetch_sessions import Wanted
from moldau.errors import ErrorCode, KafkaError
from moldau.log.leader_epochs import UNKNOWN_EPOCH, EpochEnd
from moldau.log.read import Fetched
from moldau.log.transaction_index import AbortedTransaction
from moldau.model import NO_LEADER_EPOCH, TopicPartition
from moldau.replication.partition import Partition
from moldau.replication.replicas import Replicas
from moldau.replication.throttle import Throttle
from moldau.runtime.file_range import FileRange

CONSUMER = -1
NO_REPLICA = -1
_READ_TOGETHER = 20

Key = TypeVar("Key", bound=Hashable)


class Asked(NamedTuple):
    """One partition of a request; `partition` is None if its topic's id is not known."""

    partition: TopicPartition | None
    want: Wanted
    topic_id: bytes | None = None


class ReadTerms(NamedTuple):
    """What holds for all partitions of a request."""

    max_bytes: int
    replica_id: int
    is_read_committed: bool
    # Since version 3 the first batch comes whole, however large, so that readers get on.
    at_least_one: bool
    # Since version 11 consumers may read from followers (KIP-392).
    may_read_follower: bool = False
    # A follower that consumers read from hears of a high watermark as soon as it moves.
    hears_high_watermark: bool = False
    # Holds up followers that are catching up.
    throttle: Throttle | None = None
    now_ms: int = 0

    @property
    def is_follower(self) -> bool:
        return self.replica_id >= 0


@dataclass(slots=True)
class PartitionRead:
    """What one partition gave."""

    error: KafkaError | None = None
    partition: Partition | None = None
    fetched: Fetched | None = None
    aborted: list[AbortedTransaction] | None = None
    # Where the reader's log and this one part: it must truncate before it can go on.
    diverging: EpochEnd | None = None
    # Where a consumer should rather read, if not here.
    preferred_replica: int = NO_REPLICA
    # What is sent: the stretch of the file, unless it was rewritten for an old client.
    records: FileRange | bytes | bytearray | None = None

    @property
    def size(self) -> int:
        return 0 if self.records is None else len(self.records)

    @property
    def is_answer_due(self) -> bool:
        """Whether the reader must hear of it, however little there is to read."""
        return (
            self.error is not None
            or self.diverging is not None
            or self.preferred_replica != NO_REPLICA
        )

    def refer_to(self, replica: int) -> None:
        """Send the reader to another replica, with nothing to read."""
        self.preferred_replica = replica
        self.fetched = self.records = self.aborted = None


def read_all(
    replicas: Replicas, asked: Mapping[Key, Asked], terms: ReadTerms
) -> dict[Key, PartitionRead]:
    """Read each partition in turn, until the bytes are used up."""
    work = reading(replicas, asked, terms)
    while True:
        try:
            next(work)
        except StopIteration as stop:
            reads: dict[Key, PartitionRead] = stop.value
            return reads


def reading(
    replicas: Replicas, asked: Mapping[Key, Asked], terms: ReadTerms
) -> Generator[None, None, dict[Key, PartitionRead]]:
    """The same with pauses, for those who ask for very many partitions."""
    remaining = terms.max_bytes
    at_least_one = terms.at_least_one
    reads = {}
    for number, (key, one) in enumerate(asked.items(), 1):
        if number % _READ_TOGETHER == 0:
            yield
        read = reads[key] = PartitionRead()
        try:
            partition = read.partition = find(replicas, one, terms)
            read.diverging = _divergence(partition, one.want)
            if is_held_up(partition, terms):
                read.fetched = Fetched(None, one.want.fetch_offset, one.want.fetch_offset)
            elif read.diverging is None:
                max_bytes = max(0, min(one.want.max_bytes, remaining))
                _read(read, one.want, terms, max_bytes, at_least_one=at_least_one)
        except KafkaError as error:
            read.error = error.kept()
            continue
        size = read.size
        if size:
            at_least_one = False
            remaining -= size
    return reads


def has_news(replicas: Replicas, asked: Mapping[Key, Asked], terms: ReadTerms) -> bool:
    """Whether any partition has something to read, or an error, without reading it."""
    for one in asked.values():
        try:
            partition = find(replicas, one, terms)
        except KafkaError:
            return True
        offset, log = one.want.fetch_offset, partition.log
        if is_held_up(partition, terms):
            continue
        if offset < end_of(partition, terms):
            return True
        if terms.hears_high_watermark and is_high_watermark_news(partition, terms):
            return True
        if not log.log_start_offset <= offset <= log.log_end_offset:
            return True
    return False


def find(replicas: Replicas, one: Asked, terms: ReadTerms) -> Partition:
    """The partition that is asked for, if it may be read here on these terms."""
    if one.partition is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
    epoch = one.want.current_leader_epoch
    if terms.may_read_follower:
        partition = replicas.replica(one.partition)
        partition.require_epoch(epoch)
    else:
        partition = replicas.leader(one.partition, epoch)
    if one.topic_id is not None and partition.log.topic_id not in (None, one.topic_id):
        raise KafkaError(ErrorCode.INCONSISTENT_TOPIC_ID)
    if terms.is_follower and terms.replica_id not in partition.followers:
        message = f"broker {terms.replica_id} is not a replica of {one.partition}"
        # With the right epoch the follower may know of a reassignment before we do.
        code = (
            ErrorCode.NOT_LEADER_OR_FOLLOWER
            if epoch == NO_LEADER_EPOCH
            else ErrorCode.UNKNOWN_LEADER_EPOCH
        )
        raise KafkaError(code, message)
    return partition


def undivided(replicas: Replicas, one: Asked, terms: ReadTerms) -> Partition:
    """The partition, if the reader's log is the beginning of it; raises KafkaError if not."""
    partition = find(replicas, one, terms)
    log = partition.log
    if not log.log_start_offset <= one.want.fetch_offset <= log.log_end_offset:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if _divergence(partition, one.want) is not None:
        raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
    return partition


def is_held_up(partition: Partition, terms: ReadTerms) -> bool:
    """Whether a follower gets nothing now, because others of its kind have had enough."""
    if terms.throttle is None or terms.replica_id in partition.state.isr:
        return False
    return terms.throttle.holds_up(partition, now_ms=terms.now_ms)


def is_high_watermark_news(partition: Partition, terms: ReadTerms) -> bool:
    """Whether the follower that reads has heard of a lower high watermark last."""
    return partition.followers[terms.replica_id].high_watermark < partition.log.high_watermark


def end_of(partition: Partition, terms: ReadTerms) -> int:
    """Up to where a partition may be read on these terms."""
    log = partition.log
    if terms.replica_id != CONSUMER:
        # What this leader could still lose, and then lead without, nobody else may have.
        return log.settled_end_offset()
    return log.last_stable_offset if terms.is_read_committed else log.high_watermark


def _divergence(partition: Partition, want: Wanted) -> EpochEnd | None:
    """Where this log and the reader's part, if they do (KIP-595)."""
    if want.last_fetched_epoch == NO_LEADER_EPOCH:
        return None
    log = partition.log
    end = log.end_offset_for_epoch(want.last_fetched_epoch)
    if end == UNKNOWN_EPOCH or want.fetch_offset < log.log_start_offset:
        message = f"nothing is known of epoch {want.last_fetched_epoch} at {want.fetch_offset}"
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, message)
    if end.epoch < want.last_fetched_epoch or end.end_offset < want.fetch_offset:
        return end
    return None


def _read(
    read: PartitionRead, want: Wanted, terms: ReadTerms, max_bytes: int, *, at_least_one: bool
) -> None:
    assert read.partition is not None
    log = read.partition.log
    end_offset = end_of(read.partition, terms)
    if end_offset < want.fetch_offset <= log.log_end_offset:
        # Between the high watermark and the end there is nothing for consumers yet.
        read.fetched = Fetched(None, want.fetch_offset, want.fetch_offset)
    else:
        read.fetched = log.read(
            want.fetch_offset,
            max_bytes=max_bytes,
            end_offset=end_offset,
            at_least_one=at_least_one,
        )
        if read.fetched.is_first_batch_cut and terms.at_least_one:
            # Nothing to use before the next request; a part of a batch would look like
            # one that is too large for the reader.
            read.fetched = Fetched(None, want.fetch_offset, want.fetch_offset)
    read.records = read.fetched.range
    if terms.is_read_committed and terms.replica_id == CONSUMER:
        read.aborted = log.aborted_in(read.fetched)
