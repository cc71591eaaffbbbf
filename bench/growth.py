"""One broker that gets more and more of something, and what that costs."""

import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench.brokers import Contestant

from moldau.errors import ErrorCode
from moldau.protocol.messages.api_versions import ApiVersionsRequest
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.heartbeat import HeartbeatRequest
from moldau.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from moldau.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from moldau.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from moldau.records.batch import write_batch
from moldau.records.record import Record
from moldau.testing.wire import WireClient

_IDLE_S = 3.0
_REQUESTS = 2_000
_WAIT_S = 60.0
_PARTITIONS_PER_TOPIC = 100
# Without the round trip for a member id, which says nothing about growth.
_JOIN_VERSION = 3
_SESSION_MS = 3_600_000
_FILES = 15_000


@dataclass(frozen=True, slots=True)
class Grown:
    """What a broker with so many of something costs."""

    count: int
    memory_mb: float
    each_ms: float
    """Processor time that each new one took."""
    idle_ms_per_s: float
    request_us: float


class Load(Protocol):
    """Something that a broker can have more of."""

    def add(self, count: int) -> None:
        """Let there be so many."""

    def ask(self, number: int) -> None:
        """Make one request that has to do with it."""


def grow(broker: Contestant, load: Load, counts: Sequence[int]) -> list[Grown]:
    """Measure at each of the counts."""
    rows, there = [], 0
    for count in counts:
        before = _cpu_s(broker)
        load.add(count)
        each_ms = (_cpu_s(broker) - before) * 1e3 / (count - there)
        before = _cpu_s(broker)
        for number in range(_REQUESTS):
            load.ask(number)
        request_us = (_cpu_s(broker) - before) * 1e6 / _REQUESTS
        before = _cpu_s(broker)
        time.sleep(_IDLE_S)
        idle_ms_per_s = (_cpu_s(broker) - before) * 1e3 / _IDLE_S
        rows.append(Grown(count, broker.memory_mb(), each_ms, idle_ms_per_s, request_us))
        there = count
    return rows


class Partitions:
    """Partitions, in topics of a hundred; the request is a produce to the first one."""

    def __init__(self, broker: Contestant) -> None:
        self._client = WireClient(broker.bootstrap, timeout_s=_WAIT_S)
        self._count = 0
        record = Record(offset=0, timestamp=0, key=None, value=b"v" * 100)
        data = PartitionProduceData(index=0, records=write_batch([record]))
        topics = [TopicProduceData(name="topic-0", partition_data=[data])]
        self._produce = ProduceRequest(acks=1, timeout_ms=10_000, topic_data=topics)

    def add(self, count: int) -> None:
        while self._count < count:
            partitions = min(_PARTITIONS_PER_TOPIC, count - self._count)
            topic = CreatableTopic(
                name=f"topic-{self._count}",
                num_partitions=partitions,
                replication_factor=1,
                assignments=[],
                configs=[],
            )
            request = CreateTopicsRequest(topics=[topic], timeout_ms=60_000)
            _check(self._client.ask(request).topics[0].error_code)
            self._count += partitions

    def ask(self, _number: int) -> None:
        (topic,) = self._client.ask(self._produce, 8).responses
        _check(topic.partition_responses[0].error_code)


class Connections:
    """Connections; the request is the smallest there is, on each in turn."""

    def __init__(self, broker: Contestant) -> None:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(_FILES, most), most))
        self._bootstrap = broker.bootstrap
        self._clients: list[WireClient] = []

    def add(self, count: int) -> None:
        while len(self._clients) < count:
            self._clients.append(WireClient(self._bootstrap, timeout_s=_WAIT_S))
            self.ask(len(self._clients) - 1)

    def ask(self, number: int) -> None:
        client = self._clients[number % len(self._clients)]
        _check(client.ask(ApiVersionsRequest(), 0).error_code)


@dataclass(slots=True)
class Groups:
    """Groups of one member with one committed offset; the request is a heartbeat."""

    broker: Contestant
    _client: WireClient = field(init=False)
    _members: list[tuple[str, int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._client = WireClient(self.broker.bootstrap, timeout_s=_WAIT_S)
        Partitions(self.broker).add(1)
        self._until_there()

    def add(self, count: int) -> None:
        while len(self._members) < count:
            self._members.append(self._join(f"group-{len(self._members)}"))

    def ask(self, number: int) -> None:
        group, generation, member = self._members[number % len(self._members)]
        request = HeartbeatRequest(group_id=group, generation_id=generation, member_id=member)
        _check(self._client.ask(request, 3).error_code)

    def _until_there(self) -> None:
        """The topic that keeps groups is created when somebody first looks for one."""
        deadline = time.monotonic() + _WAIT_S
        self._client.ask(FindCoordinatorRequest(key="first"), 0)
        while self._client.ask(_join_request("first"), _JOIN_VERSION).error_code:
            assert time.monotonic() < deadline, "no coordinator"
            time.sleep(0.1)

    def _join(self, group: str) -> tuple[str, int, str]:
        joined = self._client.ask(_join_request(group), _JOIN_VERSION)
        _check(joined.error_code)
        member, generation = joined.member_id, joined.generation_id
        assignment = SyncGroupRequestAssignment(member_id=member, assignment=b"")
        sync = SyncGroupRequest(
            group_id=group, generation_id=generation, member_id=member, assignments=[assignment]
        )
        _check(self._client.ask(sync, 2).error_code)
        partition = OffsetCommitRequestPartition(
            partition_index=0, committed_offset=0, committed_metadata=""
        )
        topic = OffsetCommitRequestTopic(name="topic-0", partitions=[partition])
        commit = OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=generation,
            member_id=member,
            topics=[topic],
        )
        _check(self._client.ask(commit, 6).topics[0].partitions[0].error_code)
        return group, generation, member


def _cpu_s(broker: Contestant) -> float:
    """Processor time of all threads that there are, finer than the system's ticks."""
    threads = Path(f"/proc/{broker.pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def _join_request(group: str) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=_SESSION_MS,
        rebalance_timeout_ms=_SESSION_MS,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )


def _check(code: int) -> None:
    assert code == ErrorCode.NONE, ErrorCode(code)
