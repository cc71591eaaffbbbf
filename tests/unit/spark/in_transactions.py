"""What tests of shared transactions have in common."""

from moldau.client.blocking.consumer import Consumer
from moldau.model import TopicPartition
from moldau.spark.sink_options import SinkOptions
from moldau.testing.broker import EmbeddedBroker


def sink_options(kafka: EmbeddedBroker, **others: str) -> SinkOptions:
    """Options that lead to a broker, with little patience."""
    return SinkOptions.read(
        {
            "kafka.bootstrap.servers": kafka.bootstrap_servers,
            "kafka.retry.backoff.ms": "5",
            "topic": "t",
            **others,
        }
    )


def committed(kafka: EmbeddedBroker, topic: str) -> list[bytes]:
    """The values that readers of committed records find, partition by partition."""
    settings = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "isolation.level": "read_committed",
        "fetch.max.wait.ms": "10",
    }
    values: list[bytes] = []
    with Consumer[bytes, bytes](settings) as consumer:
        partitions: list[TopicPartition] = sorted(consumer.partitions_of(topic))
        ends = consumer.end_offsets(partitions)
        consumer.assign(dict.fromkeys(partitions, 0))
        while any(consumer.position(each) < ends[each] for each in partitions):
            table = consumer.poll_table(0.1, columns=["value"])
            values += table.column("value").to_pylist()
    return sorted(values)
