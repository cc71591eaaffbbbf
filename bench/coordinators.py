"""Groups, offsets and transactions of Moldau's broker against Apache Kafka 3.9.

bin/bench coordinators [pairs]

Both brokers run side by side and take turns, as in `bin/bench broker`. Groups and commits are
raw requests from a C program, transactions those of librdkafka's producer. Last, Moldau alone
starts on a log of a million offsets.
"""

import struct
import sys
import tempfile
import time
from pathlib import Path

from bench.brokers import Contestant, contestants, moldau
from bench.comparison import Figures, Row, Workload, print_rows, take_turns
from bench.compiled import run_compiled
from bench.librdkafka import run_load
from bench.measure import print_table

from moldau.errors import ErrorCode
from moldau.protocol.codec import encode
from moldau.protocol.headers import RequestHeader, encode_request_header
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from moldau.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from moldau.testing.wire import Disconnected, WireClient

PAIRS = 5
SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
OFFSET_COMMIT, COMMIT_VERSION = 8, 7
TOPIC, PARTITIONS = "committed", 100
READY_S = 60


def group(member_count: int, group_count: int) -> Workload:
    """Members of a new group join at once, until all are assigned in one generation."""

    def run(broker: Contestant, name: str) -> Figures:
        seconds = 0.0
        before = broker.cpu_s()
        for number in range(group_count):
            arguments = (str(broker.port), str(member_count), f"{name}-{number}")
            seconds += run_compiled("requests", "group", *arguments)["seconds"]
        cpu = broker.cpu_s() - before
        return {"ms": seconds / group_count * 1e3, "CPU ms": cpu / group_count * 1e3}

    return Workload(f"group of {member_count} until stable", run)


def commits(connections: int, partition_count: int, count: int) -> Workload:
    """Each connection has a group and commits again and again."""

    def run(broker: Contestant, name: str) -> Figures:
        groups = [f"{name}-{number}" for number in range(connections)]
        frames = b"".join(commit_frame(each, partition_count) for each in groups)
        before = broker.cpu_s()
        arguments = (str(broker.port), str(connections), str(count))
        result = run_compiled("requests", "exchange", *arguments, stdin=frames)
        cpu = broker.cpu_s() - before
        return {"commits/s": count / result["seconds"], "CPU us/commit": cpu / count * 1e6}

    return Workload(f"commit of {partition_count}, {connections} connections", run)


def transactions(record_count: int, count: int) -> Workload:
    """One producer, transaction after transaction."""

    def run(broker: Contestant, name: str) -> Figures:
        before = broker.cpu_s()
        result = run_load(
            *("transactions", name, str(record_count), str(count), "linger.ms=0"),
            *(f"bootstrap.servers={broker.bootstrap}", f"transactional.id={name}"),
        )
        cpu = broker.cpu_s() - before
        broker.delete_topic(name)
        return {"per s": count / result["seconds"], "CPU ms": cpu / count * 1e3}

    return Workload(f"transactions of {record_count}", run)


def commit_frame(group_id: str, partition_count: int) -> bytes:
    """A commit without a generation, and the answer that it must get."""
    numbers = range(partition_count)
    partitions = [
        OffsetCommitRequestPartition(
            partition_index=number, committed_offset=1_000_000 + number, committed_metadata=""
        )
        for number in numbers
    ]
    request = OffsetCommitRequest(
        group_id=group_id, topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=partitions)]
    )
    results = [
        OffsetCommitResponsePartition(partition_index=number, error_code=ErrorCode.NONE)
        for number in numbers
    ]
    response = OffsetCommitResponse(
        topics=[OffsetCommitResponseTopic(name=TOPIC, partitions=results)]
    )
    header = encode_request_header(RequestHeader(OFFSET_COMMIT, COMMIT_VERSION, 1, "bench"))
    asked = header + encode(request, COMMIT_VERSION)
    answered = encode(response, COMMIT_VERSION)
    return b"".join(struct.pack(">i", len(part)) + part for part in (asked, answered))


def prepare(broker: Contestant) -> None:
    """Have the topics made, so that no run pays for it."""
    with WireClient(broker.bootstrap, timeout_s=READY_S) as client:
        topic = CreatableTopic(
            name=TOPIC, num_partitions=PARTITIONS, replication_factor=1, assignments=[], configs=[]
        )
        client.ask(CreateTopicsRequest(topics=[topic], timeout_ms=READY_S * 1000), version=4)
        for key_type in (0, 1):
            request = FindCoordinatorRequest(key="any", key_type=key_type)
            deadline = time.monotonic() + READY_S
            while client.ask(request, version=2).error_code != ErrorCode.NONE:
                assert time.monotonic() < deadline, "no coordinator"
                time.sleep(0.05)
    wait_until_loaded(broker)


def wait_until_loaded(broker: Contestant) -> None:
    """Until the coordinator of groups answers."""
    topic = OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])
    request = OffsetFetchRequest(group_id="any", topics=[topic])
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        try:
            with WireClient(broker.bootstrap) as client:
                while client.ask(request, version=5).error_code != ErrorCode.NONE:
                    time.sleep(0.005)
                return
        except (OSError, Disconnected):
            time.sleep(0.005)
    raise TimeoutError("the offsets were not loaded")


def replay(directory: Path, record_count: int) -> tuple[float, float]:
    """Seconds, and of the processor, from a start until so many offsets are known."""
    with moldau(directory, SETTINGS) as broker:
        prepare(broker)
        group_count = record_count // PARTITIONS
        frames = b"".join(commit_frame(f"group-{n}", PARTITIONS) for n in range(group_count))
        arguments = (str(broker.port), "4", str(group_count))
        run_compiled("requests", "exchange", *arguments, stdin=frames)
    began = time.monotonic()
    with moldau(directory, SETTINGS) as broker:
        wait_until_loaded(broker)
        return time.monotonic() - began, broker.cpu_s()


def compare(pairs: int) -> None:
    """Run everything and print the tables."""
    workloads = [
        group(100, 20),
        commits(1, 1, 5_000),
        commits(50, 1, 20_000),
        commits(50, 100, 1_000),
        transactions(1, 500),
        transactions(100, 500),
    ]
    with tempfile.TemporaryDirectory() as directory:
        with contestants(Path(directory), SETTINGS) as (apache, ours):
            prepare(apache)
            prepare(ours)
            rows: list[Row] = take_turns(apache, ours, workloads, pairs)
        seconds, cpu = replay(Path(directory, "replay"), 1_000_000)
    print_rows(f"Medians of {pairs} pairs", rows)
    print_table(
        "A start of Moldau on a million offsets; aim 5 s",
        ("", "s"),
        [("until they are loaded", f"{seconds:.2f}"), ("of the processor", f"{cpu:.2f}")],
    )


if __name__ == "__main__":
    compare(int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS)
