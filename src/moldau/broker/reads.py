"""Reading for one Fetch request: several partitions under common limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from moldau.broker.fetch_sessions import Wanted
from moldau.errors import ErrorCode, KafkaError
from moldau.log.read import Fetched
from moldau.log.transaction_index import AbortedTransaction
from moldau.model import TopicPartition
from moldau.replication.partition import Partition
from moldau.replication.replicas import Replicas

CONSUMER = -1


class ReadTerms(NamedTuple):
    """What holds for all partitions of a request."""

    max_bytes: int
    replica_id: int
    is_read_committed: bool
    # Since version 3 the first batch comes whole, however large, so that readers get on.
    at_least_one: bool
    now_ms: int

    @property
    def is_follower(self) -> bool:
        return self.replica_id != CONSUMER


@dataclass(slots=True)
class PartitionRead:
    """What one partition gave."""

    error: KafkaError | None = None
    partition: Partition | None = None
    fetched: Fetched | None = None
    aborted: list[AbortedTransaction] | None = None

    @property
    def size(self) -> int:
        return 0 if self.fetched is None else self.fetched.size


def read_all(
    replicas: Replicas, wanted: Mapping[TopicPartition, Wanted], terms: ReadTerms
) -> dict[TopicPartition, PartitionRead]:
    """Read each partition in turn, until the bytes are used up."""
    remaining = terms.max_bytes
    at_least_one = terms.at_least_one
    reads = {}
    for name, want in wanted.items():
        read = reads[name] = PartitionRead()
        try:
            read.partition = _partition(replicas, name, want, terms)
            max_bytes = max(0, min(want.max_bytes, remaining))
            _read(read, read.partition, want, terms, max_bytes, at_least_one=at_least_one)
        except KafkaError as error:
            read.error = error
        if read.size:
            at_least_one = False
            remaining -= read.size
    return reads


def has_news(replicas: Replicas, wanted: Mapping[TopicPartition, Wanted], terms: ReadTerms) -> bool:
    """Whether any partition has something to read, or an error, without reading it."""
    for name, want in wanted.items():
        try:
            partition = _partition(replicas, name, want, terms)
        except KafkaError:
            return True
        start, end = partition.log.log_start_offset, partition.log.log_end_offset
        if want.fetch_offset < _end(partition, terms) or not start <= want.fetch_offset <= end:
            return True
    return False


def _partition(
    replicas: Replicas, name: TopicPartition, want: Wanted, terms: ReadTerms
) -> Partition:
    partition = replicas.leader(name, want.current_leader_epoch)
    if terms.is_follower and terms.replica_id not in partition.followers:
        message = f"broker {terms.replica_id} is not a replica of {name}"
        raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH, message)
    return partition


def _end(partition: Partition, terms: ReadTerms) -> int:
    log = partition.log
    if terms.is_follower:
        return log.log_end_offset
    return log.last_stable_offset if terms.is_read_committed else log.high_watermark


def _read(
    read: PartitionRead,
    partition: Partition,
    want: Wanted,
    terms: ReadTerms,
    max_bytes: int,
    *,
    at_least_one: bool,
) -> None:
    log = partition.log
    end_offset = _end(partition, terms)
    if want.fetch_offset > end_offset and want.fetch_offset <= log.log_end_offset:
        # Between the high watermark and the end there is nothing for consumers yet.
        read.fetched = Fetched(None, want.fetch_offset, want.fetch_offset)
    else:
        read.fetched = log.read(
            want.fetch_offset,
            max_bytes=max_bytes,
            end_offset=end_offset,
            at_least_one=at_least_one,
        )
    if terms.is_read_committed and not terms.is_follower:
        read.aborted = log.aborted_in(read.fetched)
    if terms.is_follower:
        partition.note_fetch(
            terms.replica_id,
            want.fetch_offset,
            log_start_offset=want.log_start_offset,
            now_ms=terms.now_ms,
        )
