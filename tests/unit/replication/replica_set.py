"""One partition on several brokers: real logs, replicas and fetchers, and a network of calls.

Brokers talk when a test says so, one question at a time; the controller is whoever writes
the test. Values are unique, so that logs can be compared by them.
"""

from dataclasses import dataclass, field

from moldau.broker.requests.fetch_request import Wanted
from moldau.broker.requests.reads import PartitionRead, ReadTerms, read_all
from moldau.config.topic import TopicConfig
from moldau.errors import KafkaError
from moldau.log.log import Log
from moldau.log.opening import Remembered, create, open_log
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from moldau.records.batch import iterate_headers, read_records, write_batch
from moldau.records.record import Record
from moldau.replication.fetcher import Ends, FetchPhase, Following, LeaderAnswer, ReplicaFetcher
from moldau.replication.partition import ALL_IN_SYNC, IsrChange, Partition
from moldau.replication.replicas import Replicas
from moldau.runtime.clock import Moment
from moldau.runtime.file_range import FileRange
from moldau.testing.disk import MemoryDisk, keep_all

T0 = TopicPartition("t", 0)
LAG_MS = 10_000
MAX_BYTES = 2**20


@dataclass
class StateNode:
    """The partition's node in the tree."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    version: int = 0


class Member:
    """A broker with its replica."""

    def __init__(self, broker_id: int, config: TopicConfig, *, truncates_by_fetch: bool) -> None:
        self.id = broker_id
        self.config = config
        self.truncates_by_fetch = truncates_by_fetch
        self.is_up = True
        self.disk = MemoryDisk()
        self.disk.make_directory("/logs")
        folder = Folder(Volume(self.disk, "/logs"), T0)
        self.log = create(folder, config, Shared(), now_ms=0)
        self._begin()

    def _begin(self) -> None:
        self.replicas = Replicas(self.id, self, lag_max_ms=LAG_MS, is_known=lambda _: True)
        self.fetcher = ReplicaFetcher(backoff_max_ms=0, truncates_by_fetch=self.truncates_by_fetch)
        self.changes: list[IsrChange] = []

    # What `Replicas` wants of logs

    def get(self, partition: TopicPartition) -> Log | None:
        return self.log

    def create(
        self, partition: TopicPartition, *, topic_id: bytes | None, is_new: bool, now_ms: int
    ) -> Log:
        raise AssertionError("it has its log")

    def holds(self, partition: TopicPartition) -> bool:
        return True

    def delete(self, partition: TopicPartition, *, now_ms: int) -> None:
        raise AssertionError("it keeps its log")

    # Its life

    @property
    def partition(self) -> Partition:
        return self.replicas.replica(T0)

    @property
    def leads(self) -> bool:
        found = self.replicas.find(T0)
        return self.is_up and found is not None and found.is_leader

    def crash(self) -> None:
        """End as by kill -9: what was written stays in the page cache."""
        self.is_up = False

    def start(self, *, high_watermark: int) -> None:
        """Begin again with the high watermark that happened to be checkpointed."""
        self.disk = self.disk.restart(keep_all)
        folder = Folder(Volume(self.disk, "/logs"), T0)
        remembered = Remembered(high_watermark=high_watermark)
        self.log = open_log(folder, self.config, Shared(), remembered=remembered, now_ms=0)
        self.is_up = True
        self._begin()

    def values(self, *, end_offset: int | None = None) -> list[bytes | None]:
        """What the log holds, in order."""
        end = self.log.log_end_offset if end_offset is None else end_offset
        found: list[bytes | None] = []
        for segment in self.log.segments:
            data = segment.file().read(0, segment.size)
            for position, header in iterate_headers(data):
                if header.base_offset < end:
                    records = read_records(data, position, limit_bytes=MAX_BYTES)
                    found += [record.value for record in records]
        return found


@dataclass
class ReplicaSet:
    """The brokers, and what the tree says of the partition."""

    count: int = 3
    min_insync_replicas: int = 2
    truncates_by_fetch: bool = False
    now_ms: int = 0
    members: dict[int, Member] = field(init=False)
    node: StateNode = field(init=False)

    def __post_init__(self) -> None:
        config = TopicConfig(min_insync_replicas=self.min_insync_replicas)
        ids = tuple(range(1, self.count + 1))
        by_fetch = self.truncates_by_fetch
        self.members = {one: Member(one, config, truncates_by_fetch=by_fetch) for one in ids}
        self.node = StateNode(leader=1, leader_epoch=0, isr=ids, replicas=ids)
        self.tell(*ids)

    @property
    def now(self) -> Moment:
        return Moment(self.now_ms, self.now_ms)

    # The controller

    def elect(self, leader: int, *, isr: tuple[int, ...] | None = None) -> None:
        """Write another leader; nobody hears of it before `tell`."""
        isr = self.node.isr if isr is None else isr
        epoch, version = self.node.leader_epoch + 1, self.node.version + 1
        self.node = StateNode(leader, epoch, isr, self.node.replicas, version)

    def tell(self, *brokers: int) -> None:
        """Send the state of the partition to brokers."""
        node = self.node
        for broker in brokers:
            member = self.members[broker]
            if not member.is_up:
                continue
            state = LeaderAndIsrPartitionState(
                partition_index=0,
                controller_epoch=1,
                leader=node.leader,
                leader_epoch=node.leader_epoch,
                isr=list(node.isr),
                partition_epoch=node.version,
                replicas=list(node.replicas),
            )
            topic = LeaderAndIsrTopicState(topic_name="t", partition_states=[state])
            request = LeaderAndIsrRequest(
                controller_id=1, controller_epoch=1, topic_states=[topic], live_leaders=[]
            )
            changes = member.replicas.apply_leader_and_isr(request, self.now)
            for _ in changes.leading:
                member.fetcher.drop(T0)
            for partition in changes.following:
                member.fetcher.drop(T0)
                if partition.state.leader in self.members:
                    member.fetcher.follow(partition, self.now)

    # Producers

    def append(self, broker: int, value: bytes, *, acks: int = ALL_IN_SYNC) -> int:
        """Produce one record; returns the offset after it."""
        batch = write_batch([Record(0, 1_000, None, value, ())])
        partition = self.members[broker].partition
        return partition.append(batch, acks=acks, now_ms=self.now_ms).last_offset + 1

    # Followers

    def ask(self, broker: int, *, is_answer_lost: bool = False) -> bool:
        """Have a follower ask its leader what is to be asked next; says whether it could."""
        follower = self.members[broker]
        for phase in FetchPhase:
            for following in follower.fetcher.due(phase, self.now):
                leader = self.members[following.partition.state.leader]
                if not leader.is_up or not follower.is_up:
                    return False
                self._ask(follower, following, leader, is_answer_lost=is_answer_lost)
                return True
        return False

    def _ask(
        self, follower: Member, following: Following, leader: Member, *, is_answer_lost: bool
    ) -> None:
        try:
            partition = leader.replicas.leader(T0, following.leader_epoch)
            match following.phase:
                case FetchPhase.TRUNCATING:
                    end = partition.log.end_offset_for_epoch(following.last_epoch)
                    if not is_answer_lost:
                        follower.fetcher.take_epoch_end(following, end, self.now)
                case FetchPhase.LOST:
                    ends = Ends(partition.log.log_start_offset, partition.log.log_end_offset)
                    if not is_answer_lost:
                        follower.fetcher.take_ends(following, ends, self.now)
                case FetchPhase.FETCHING:
                    answer = self._fetch(follower, following, leader)
                    if not is_answer_lost:
                        follower.fetcher.take_records(following, answer, self.now)
        except KafkaError as error:
            if not is_answer_lost:
                follower.fetcher.take_error(following, error.code, self.now)

    def _fetch(self, follower: Member, following: Following, leader: Member) -> LeaderAnswer:
        log = follower.log
        last_epoch = following.last_epoch if self.truncates_by_fetch else -1
        offset, start = log.log_end_offset, log.log_start_offset
        want = Wanted(following.leader_epoch, offset, last_epoch, start, MAX_BYTES)
        terms = ReadTerms(MAX_BYTES, follower.id, is_read_committed=False, at_least_one=True)
        read = PartitionRead(T0, T0, want)
        read_all(leader.replicas, [read], terms)
        if read.error is not None:
            raise read.error
        assert read.partition is not None
        if read.diverging is None:
            partition = read.partition
            partition.note_fetch(follower.id, offset, log_start_offset=start, now_ms=self.now_ms)
            if partition.may_join(follower.id):
                self.propose(leader.id)
        records = read.records
        data = records.read() if isinstance(records, FileRange) else bytes(records or b"")
        hw, log_start = leader.log.high_watermark, leader.log.log_start_offset
        return LeaderAnswer(offset, data, hw, log_start, read.diverging)

    def settle(self) -> None:
        """Let all followers ask until nobody has anything new."""
        for _ in range(12):
            for broker in self.members:
                self.ask(broker)

    # In-sync sets

    def propose(self, broker: int) -> None:
        """Let a leader see whether its in-sync set should change."""
        member = self.members[broker]
        change = member.partition.propose_isr(now_ms=self.now_ms)
        if change is not None:
            member.changes.append(change)

    def write_isr(self, broker: int) -> None:
        """Carry out what a leader has proposed, if the node is as it thinks."""
        member = self.members[broker]
        for change in member.changes:
            before, node = change.state, self.node
            if before.partition_epoch != node.version:
                continue
            assert (before.leader, before.leader_epoch) == (node.leader, node.leader_epoch)
            self.node = StateNode(
                node.leader, node.leader_epoch, change.isr, node.replicas, node.version + 1
            )
            member.partition.finish_isr_change(change, self.node.version)
        member.changes.clear()
