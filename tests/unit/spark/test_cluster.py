"""The driver's questions, asked of a real broker."""

import pytest

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.model import TopicPartition
from moldau.spark.cluster import Cluster
from moldau.spark.offsets import EARLIEST, LATEST
from moldau.spark.options import Bound, SourceOptions
from moldau.testing.broker import EmbeddedBroker

ONE, TWO, OTHER = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
TIMES = (1000, 2000, 3000)


@pytest.fixture
def address(kafka: EmbeddedBroker) -> str:
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        stamped = {"message.timestamp.type": "LogAppendTime"}
        admin.create_topics(
            [NewTopic("a", partitions=2), NewTopic("b", partitions=1, configs=stamped)]
        ).check()
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for time_ms in TIMES:
            producer.send("a", b"v", partition=1, timestamp_ms=time_ms)
    return kafka.bootstrap_servers


def cluster(address: str, **options: str) -> Cluster:
    given = {"kafka.bootstrap.servers": address, **(options or {"subscribe": "a,b"})}
    return Cluster(SourceOptions.read(given, is_stream=False))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"subscribe": "b,a"}, [ONE, TWO, OTHER]),
        ({"subscribePattern": "[ax]"}, [ONE, TWO]),
        ({"assign": '{"a":[1]}'}, [TWO]),
    ],
)
def test_partitions_are_found(
    address: str, options: dict[str, str], expected: list[TopicPartition]
) -> None:
    with cluster(address, **options) as found:
        assert found.partitions() == expected


def test_bounds_become_offsets(address: str) -> None:
    with cluster(address, subscribe="a") as found:
        both = found.partitions()
        assert found.offsets(both, Bound(EARLIEST)) == {ONE: 0, TWO: 0}
        assert found.offsets(both, Bound(LATEST)) == {ONE: 0, TWO: 3}
        assert found.offsets(both, Bound(LATEST, offsets=((TWO, 1),))) == {ONE: 0, TWO: 1}
        assert found.offsets(both, Bound(EARLIEST, timestamp=2000)) == {ONE: 0, TWO: 1}
        assert found.offsets(both, Bound(EARLIEST, timestamp=9000))[TWO] == 3
        with pytest.raises(ValueError, match="b-0, which is not read"):
            found.offsets(both, Bound(EARLIEST, offsets=((OTHER, 1),)))


def test_topics_stamped_by_the_broker_are_told_apart(address: str) -> None:
    with cluster(address) as found:
        assert found.topics_with_append_time({"a", "b"}) == {"b"}
