"""What quotas cost that are set and not reached, against none.

bin/bench quotas [rounds [requests]]

First in process: small Produce and Fetch requests through the dispatcher, as a connection gives
them to it, in processor time per request. Then over a socket: the same with round trips. It is one
broker, whose quotas are set and taken away by turns, since two differ by more than quotas cost; the
best of the rounds counts for each.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from functools import partial
from math import inf

from moldau.broker.context import Client
from moldau.broker.settings.client_quotas import QuotaChange
from moldau.protocol.codec import encode
from moldau.protocol.headers import RequestHeader, encode_request_header
from moldau.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from moldau.records.batch import write_batch
from moldau.records.record import Record
from moldau.testing.broker import EmbeddedBroker, running_broker
from moldau.testing.wire import WireClient

ROUNDS = 7
REQUESTS = 20_000
TOPIC = "t"
PRODUCE_VERSION, FETCH_VERSION = 9, 12
QUOTAS = {
    "producer_byte_rate": 1e12,
    "consumer_byte_rate": 1e12,
    "request_percentage": 1e6,
    "controller_mutation_rate": 1e6,
}


def produce() -> ProduceRequest:
    records = write_batch([Record(0, 1_700_000_000_000, None, b"x" * 100, ())])
    partition = PartitionProduceData(index=0, records=records)
    topic = TopicProduceData(name=TOPIC, partition_data=[partition])
    return ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])


def fetch() -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=100)
    topic = FetchTopic(topic=TOPIC, partitions=[partition])
    return FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=100, topics=[topic])


def frame(api_key: int, request: object, version: int) -> bytearray:
    header = RequestHeader(api_key, version, 1, "bench")
    return bytearray(encode_request_header(header) + encode(request, version))


FRAMES = {
    "Produce": frame(0, produce(), PRODUCE_VERSION),
    "Fetch": frame(1, fetch(), FETCH_VERSION),
}


async def limit(kafka: EmbeddedBroker, *, is_limited: bool) -> None:
    changes = [QuotaChange(key, value if is_limited else None) for key, value in QUOTAS.items()]
    store = kafka.running.broker.client_quotas
    await store.alter({"user": None, "client-id": None}, changes, is_only_checked=False)


async def in_process(kafka: EmbeddedBroker, name: str, count: int) -> float:
    """Processor time per request, in microseconds."""
    respond = kafka.running.dispatcher.respond
    client = Client("PLAINTEXT", "127.0.0.1", "127.0.0.1", 9092)
    view = memoryview(FRAMES[name])
    began_s = time.thread_time()
    for _ in range(count):
        respond(client, view)
    return (time.thread_time() - began_s) / count * 1e6


def over_socket(kafka: EmbeddedBroker, name: str, count: int) -> float:
    """Time of a round trip, in microseconds."""
    framed = len(FRAMES[name]).to_bytes(4, "big") + FRAMES[name]

    async def run() -> float:
        host, port = kafka.bootstrap_servers.rsplit(":", 1)
        reader, writer = await asyncio.open_connection(host, int(port))
        began_s = time.monotonic()
        for _ in range(count):
            writer.write(framed)
            await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
        taken_s = time.monotonic() - began_s
        writer.close()
        return taken_s / count * 1e6

    return asyncio.run(run())


def compare(label: str, rounds: int, kafka: EmbeddedBroker, measure: Callable[[], float]) -> None:
    """Print what a request takes without quotas, with them, and the difference."""
    best = {False: inf, True: inf}
    for number in range(2 * rounds):
        is_limited = number % 4 in (1, 2)  # neither is always the first
        kafka.call(limit(kafka, is_limited=is_limited))
        best[is_limited] = min(best[is_limited], measure())
    percent = (best[True] / best[False] - 1) * 100
    print(f"{label:24} {best[False]:9.2f} µs {best[True]:9.2f} µs {percent:+7.1f} %")


def measure_all(kafka: EmbeddedBroker, rounds: int, requests: int) -> None:
    print(f"{'':24} {'no quotas':>12} {'quotas set':>12}")
    for name in FRAMES:
        work = partial(in_process, kafka, name, requests)
        compare(f"{name}, in process", rounds, kafka, lambda work=work: kafka.call(work()))
    for name in FRAMES:
        ask = partial(over_socket, kafka, name, max(requests // 4, 1))
        compare(f"{name}, over a socket", rounds, kafka, ask)


def main(arguments: list[str]) -> None:
    rounds = int(arguments[0]) if arguments else ROUNDS
    requests = int(arguments[1]) if len(arguments) > 1 else REQUESTS
    with running_broker() as kafka:
        with WireClient(kafka.bootstrap_servers) as client:
            client.ask(MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)]))
        measure_all(kafka, rounds, requests)


if __name__ == "__main__":
    main(sys.argv[1:])
