"""The message codec against kio, whose encoder is Python and whose decoder is Rust.

bin/bench codec [rounds]

CPU time; both sides are measured in turn, and the best of the rounds counts, so that a
busy machine slows both alike. Encoding ends in one `bytes` object, decoding starts from
one, and both sides use functions that they looked up beforehand.
"""

import io
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer

from moldau.protocol.codec import decoder_of, encode, encoder_of
from moldau.protocol.declaration import facts_of
from moldau.protocol.messages import fetch, heartbeat, metadata, produce

ROUND_S = 0.02
BATCH = bytes(16 * 1024)


def produce_request() -> produce.ProduceRequest:
    partition = produce.PartitionProduceData(index=0, records=BATCH)
    topic = produce.TopicProduceData(name="payments", partition_data=[partition])
    return produce.ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])


def fetch_request() -> fetch.FetchRequest:
    partition = fetch.FetchPartition(
        partition=0, current_leader_epoch=3, fetch_offset=1_000_000, partition_max_bytes=2**20
    )
    topic = fetch.FetchTopic(topic="payments", partitions=[partition])
    return fetch.FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=50 * 2**20, topics=[topic])


def fetch_response() -> fetch.FetchResponse:
    partition = fetch.PartitionData(
        partition_index=0, error_code=0, high_watermark=1_000_100, records=BATCH
    )
    topic = fetch.FetchableTopicResponse(topic="payments", partitions=[partition])
    return fetch.FetchResponse(responses=[topic])


def metadata_response(topic_count: int, partition_count: int) -> metadata.MetadataResponse:
    brokers = [
        metadata.MetadataResponseBroker(node_id=node, host=f"broker-{node}.example", port=9092)
        for node in range(3)
    ]
    topics = [
        metadata.MetadataResponseTopic(
            error_code=0,
            name=f"topic-{topic}",
            topic_id=topic.to_bytes(16, "big"),
            partitions=[
                metadata.MetadataResponsePartition(
                    error_code=0,
                    partition_index=partition,
                    leader_id=partition % 3,
                    leader_epoch=7,
                    replica_nodes=[0, 1, 2],
                    isr_nodes=[0, 1, 2],
                )
                for partition in range(partition_count)
            ],
        )
        for topic in range(topic_count)
    ]
    return metadata.MetadataResponse(brokers=brokers, cluster_id="moldau", topics=topics)


CASES: list[tuple[str, object, int]] = [
    ("Produce request, 16 KiB", produce_request(), 9),
    ("Fetch request", fetch_request(), 12),
    ("Fetch response, 16 KiB", fetch_response(), 12),
    (
        "Heartbeat request",
        heartbeat.HeartbeatRequest(group_id="billing", generation_id=3, member_id="m-1"),
        4,
    ),
    ("Metadata response, 1 x 1", metadata_response(1, 1), 12),
    ("Metadata response, 100 x 10", metadata_response(100, 10), 12),
]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Best times of one call, in microseconds."""

    ours_us: float
    kio_us: float


def compare_encoders(message: object, version: int, rounds: int) -> Comparison:
    encoder = encoder_of(type(message), version)
    kio_class = kio_class_of(message, version)
    entity, _ = entity_reader(kio_class)(encode(message, version), 0)
    writer = entity_writer(kio_class)

    def with_kio() -> bytes:
        buffer = io.BytesIO()
        writer(buffer, entity)
        return buffer.getvalue()

    assert with_kio() == encode(message, version)
    return best_of(lambda: b"".join(encoder(message)), with_kio, rounds)


def compare_decoders(message: object, version: int, rounds: int) -> Comparison:
    encoded = encode(message, version)
    decoder = decoder_of(type(message), version)
    reader = entity_reader(kio_class_of(message, version))
    return best_of(lambda: decoder(encoded, 0), lambda: reader(encoded, 0), rounds)


def kio_class_of(message: object, version: int) -> type:
    load = load_request_schema if type(message).__name__.endswith("Request") else None
    return (load or load_response_schema)(facts_of(type(message)).api_key, version)


def best_of(ours: Callable[[], object], kio: Callable[[], object], rounds: int) -> Comparison:
    repeats = [max(1, int(ROUND_S / seconds_of(call, 10) * 10)) for call in (ours, kio)]
    times = [
        [seconds_of(call, count) / count for call, count in zip((ours, kio), repeats, strict=True)]
        for _ in range(rounds)
    ]
    best_ours, best_kio = (min(column) for column in zip(*times, strict=True))
    return Comparison(best_ours * 1e6, best_kio * 1e6)


def seconds_of(call: Callable[[], object], count: int) -> float:
    started = time.process_time()
    for _ in range(count):
        call()
    return time.process_time() - started


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    columns = ("encode µs", "kio", "faster", "decode µs", "kio", "slower")
    print(f"{'':36}" + "".join(f"{column:>11}" for column in columns))
    for title, message, version in CASES:
        encoding = compare_encoders(message, version, rounds)
        decoding = compare_decoders(message, version, rounds)
        print(
            f"{title} (v{version})".ljust(36)
            + f"{encoding.ours_us:11.2f}{encoding.kio_us:11.2f}"
            + f"{encoding.kio_us / encoding.ours_us:10.1f}x"
            + f"{decoding.ours_us:11.2f}{decoding.kio_us:11.2f}"
            + f"{decoding.ours_us / decoding.kio_us:10.1f}x"
        )


if __name__ == "__main__":
    main()
