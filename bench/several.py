"""Load on several brokers at once: raw requests, by a C program for each."""

import struct
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

from bench.compiled import run_compiled
from bench.coordinators import TOPIC as COMMITTED
from bench.coordinators import commit_frame

from moldau.errors import ErrorCode
from moldau.protocol.codec import encode
from moldau.protocol.headers import RequestHeader, encode_request_header
from moldau.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from moldau.protocol.messages.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from moldau.records.batch import write_batch
from moldau.records.record import Record
from moldau.testing.wire import WireClient

_TOPIC = "t"
_PRODUCE, _PRODUCE_VERSION = 0, 7
_READY_S = 60


@dataclass(frozen=True, slots=True)
class Brokers:
    """What is loaded: the brokers of one cluster, by their ids."""

    ports: dict[int, int]

    def prepare(self) -> None:
        """Make a topic with a partition on each of them, and those that commits are about."""
        places = dict(enumerate(self.ports))
        self._create(_TOPIC, places)
        self._create(COMMITTED, dict.fromkeys(range(100), next(iter(self.ports))))

    def produce_frames(self, record_count: int, size: int) -> dict[int, bytes]:
        """By port, a request that a broker is asked again and again."""
        return {
            port: _produce_frame(number, record_count, size)
            for number, port in enumerate(self.ports.values())
        }

    def commit_frames(self, group_count: int) -> dict[int, bytes]:
        """By port, commits of groups: each broker coordinates as many of them."""
        wanted = group_count // len(self.ports)
        found: dict[int, list[str]] = {port: [] for port in self.ports.values()}
        number = 0
        while any(len(groups) < wanted for groups in found.values()):
            number += 1
            groups = found[self._coordinator(f"group-{number}")]
            if len(groups) < wanted:
                groups.append(f"group-{number}")
        return {
            port: b"".join(commit_frame(each, 1) for each in groups)
            for port, groups in found.items()
        }

    def _create(self, name: str, places: dict[int, int]) -> None:
        topic = CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                CreatableReplicaAssignment(partition_index=number, broker_ids=[broker_id])
                for number, broker_id in places.items()
            ],
            configs=[],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=_READY_S * 1000)
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=name)])
        deadline = time.monotonic() + _READY_S
        with ExitStack() as stack:
            clients = [
                stack.enter_context(WireClient(f"127.0.0.1:{port}", timeout_s=_READY_S))
                for port in self.ports.values()
            ]
            codes = {client.ask(request, version=4).topics[0].error_code for client in clients}
            assert ErrorCode.NONE in codes, codes  # of the controller; the others refuse
            for client in clients:
                while client.ask(asked, version=5).topics[0].error_code != ErrorCode.NONE:
                    assert time.monotonic() < deadline, f"{client} does not know of {name}"
                    time.sleep(0.05)

    def _coordinator(self, group: str) -> int:
        request = FindCoordinatorRequest(key=group, key_type=0)
        deadline = time.monotonic() + _READY_S
        with WireClient(f"127.0.0.1:{next(iter(self.ports.values()))}") as client:
            while True:
                answer = client.ask(request, version=2)
                if answer.error_code == ErrorCode.NONE:
                    return int(answer.port)
                assert time.monotonic() < deadline, "no coordinator"
                time.sleep(0.05)


def load(how: str, frames: dict[int, bytes], connections: int, count: int) -> float:
    """Requests per second of all brokers together; `how` is a mode of load/requests.c."""

    def one(port: int) -> float:
        arguments = (str(port), str(connections // len(frames)), str(count // len(frames)))
        return run_compiled("requests", how, *arguments, stdin=frames[port])["seconds"]

    with ThreadPoolExecutor(len(frames)) as threads:
        seconds = list(threads.map(one, frames))
    return count / max(seconds)


def single(brokers: Brokers, connections: int, count: int) -> float:
    """Requests per second, each with one small record."""
    return load("begin", brokers.produce_frames(1, 100), connections, count)


def commits(brokers: Brokers, connections: int, count: int) -> float:
    """Commits per second, of as many groups."""
    return load("exchange", brokers.commit_frames(connections), connections, count)


def bulk(brokers: Brokers, connections: int, count: int) -> float:
    """MB per second, in batches of 64 KB."""
    rate = load("begin", brokers.produce_frames(64, 1000), connections, count)
    return rate * 64_000 / 1e6


def _produce_frame(partition: int, record_count: int, size: int) -> bytes:
    now_ms = time.time_ns() // 1_000_000
    value = b"x" * size
    records = [
        Record(offset=number, timestamp=now_ms, key=None, value=value)
        for number in range(record_count)
    ]
    data = PartitionProduceData(index=partition, records=bytes(write_batch(records)))
    topic = TopicProduceData(name=_TOPIC, partition_data=[data])
    request = ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[topic])
    header = encode_request_header(RequestHeader(_PRODUCE, _PRODUCE_VERSION, 1, "bench"))
    asked = header + encode(request, _PRODUCE_VERSION)
    name = _TOPIC.encode()
    answered = struct.pack(f">ih{len(name)}siih", 1, len(name), name, 1, partition, ErrorCode.NONE)
    return b"".join(struct.pack(">i", len(part)) + part for part in (asked, answered))
