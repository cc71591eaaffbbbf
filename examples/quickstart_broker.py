"""A first look at Moldau: a broker, a topic with ten thousand records, and back again.

Run it with bin/quickstart --no-spark. Any Kafka client can take the client's part; here a few lines
over the wire protocol do, so that nothing else has to be installed.
"""

import time
from collections.abc import Iterator

from moldau.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
)
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from moldau.records.batch import iterate_headers, read_records, write_batch
from moldau.records.compression import Codec
from moldau.records.record import Record
from moldau.testing.broker import EmbeddedBroker, running_broker
from moldau.testing.wire import WireClient

TOPIC = "temperatures"
RECORD_COUNT = 10_000
BATCH_SIZE = 1_000
LIMIT_BYTES = 16 * 1024 * 1024
FETCH_VERSION = 12  # the newest that names topics instead of their ids
ALL_REPLICAS = -1


def main() -> None:
    print("1. A broker: nothing to configure, to format or to start beside it")
    began_s = time.perf_counter()
    with running_broker() as kafka:
        print(f"   listening on {kafka.bootstrap_servers} after {seconds(began_s)}")
        print(f"   data in {kafka.directory}\n")
        with WireClient(kafka.bootstrap_servers, client_id="quickstart") as client:
            show_cluster(client)
            feed(client)
            read_back(client)
        show_files(kafka)
    print("5. The broker has stopped: everything was flushed, the next start need not look.\n")
    print(
        "Next: `bin/moldau serve` starts one that stays, on port 9092, for any Kafka client:\n"
        "   kcat -b localhost:9092 -P -t greetings\n"
        "bin/quickstart, with Java 17 or newer, shows a pipeline on Spark; README.md the rest."
    )


def show_cluster(client: WireClient) -> None:
    """Asking for the metadata of a topic creates it, as with Kafka."""
    topic = MetadataRequestTopic(name=TOPIC)
    metadata = client.ask(MetadataRequest(topics=[topic]))
    (broker,), (found,) = metadata.brokers, metadata.topics
    print(f"2. The cluster {metadata.cluster_id}: broker {broker.node_id}, the controller")
    print(f"   topic {found.name!r} with {len(found.partitions)} partition, just created\n")


def feed(client: WireClient) -> None:
    print(f"3. Feeding it {RECORD_COUNT:,} records in batches of {BATCH_SIZE:,}, with lz4")
    began_s = time.perf_counter()
    for start in range(0, RECORD_COUNT, BATCH_SIZE):
        rows = [
            Record(
                number,
                1_700_000_000_000 + start + number,
                sensor(start + number),
                reading(start + number),
            )
            for number in range(BATCH_SIZE)
        ]
        batch = write_batch(rows, attributes=Codec.LZ4)
        partition = PartitionProduceData(index=0, records=bytes(batch))
        response = client.ask(
            ProduceRequest(
                transactional_id=None,
                acks=ALL_REPLICAS,
                timeout_ms=5000,
                topic_data=[TopicProduceData(name=TOPIC, partition_data=[partition])],
            )
        )
        (answer,) = response.responses[0].partition_responses
        assert answer.error_code == 0, answer
        assert answer.base_offset == start
    print(f"   acknowledged up to offset {RECORD_COUNT - 1:,} in {seconds(began_s)}\n")


def read_back(client: WireClient) -> None:
    print("4. Reading it from the beginning")
    began_s = time.perf_counter()
    records = list(fetched(client))
    duration = seconds(began_s)
    for record in (*records[:2], records[-1]):
        assert record.key is not None
        assert record.value is not None
        print(f"   offset {record.offset:>5}  {record.key.decode():10} {record.value.decode()}")
    assert [record.value for record in records] == [reading(n) for n in range(RECORD_COUNT)]
    print(f"   {len(records):,} records, the same as were sent, in {duration}\n")


def fetched(client: WireClient) -> Iterator[Record]:
    offset = 0
    while offset < RECORD_COUNT:
        wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
        response = client.ask(
            FetchRequest(
                max_wait_ms=500,
                min_bytes=1,
                topics=[FetchTopic(topic=TOPIC, partitions=[wanted])],
                forgotten_topics_data=[],
            ),
            FETCH_VERSION,
        )
        batches = bytes(response.responses[0].partitions[0].records)
        for position, header in iterate_headers(batches):
            yield from read_records(batches, position, limit_bytes=LIMIT_BYTES)
            offset = header.next_offset


def show_files(kafka: EmbeddedBroker) -> None:
    print("   On disk it is what Kafka writes, which its own tools can read:")
    for file in sorted((kafka.directory / f"{TOPIC}-0").iterdir()):
        print(f"   {file.stat().st_size:>9,} bytes  {file.parent.name}/{file.name}")
    print()


def sensor(number: int) -> bytes:
    return b"sensor-%d" % (number % 100)


def reading(number: int) -> bytes:
    return b'{"celsius": %d.%d, "humidity": %d}' % (number % 40, number % 10, number % 97)


def seconds(began_s: float) -> str:
    return f"{time.perf_counter() - began_s:.2f} s"


if __name__ == "__main__":
    main()
