"""The driver's questions, asked of a real broker."""

import pytest

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.errors import ErrorCode, KafkaError, NetworkException
from moldau.model import TopicPartition
from moldau.spark.cluster import SourceCluster
from moldau.spark.offsets import COMMITTED, EARLIEST, LATEST
from moldau.spark.options import Bound, SourceOptions
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail

ONE, TWO, OTHER = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
TIMES = (1000, 2000, 3000)


@pytest.fixture
def address(kafka: EmbeddedBroker) -> str:
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("a", partitions=2), NewTopic("b", partitions=1)]).check()
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for time_ms in TIMES:
            producer.send("a", b"v", partition=1, timestamp_ms=time_ms)
    return kafka.bootstrap_servers


def cluster(address: str, **options: str) -> SourceCluster:
    given = {"kafka.bootstrap.servers": address, **(options or {"subscribe": "a,b"})}
    return SourceCluster(SourceOptions.read(given, is_stream=False))


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


@pytest.mark.parametrize("option", ["subscribe", "subscribePattern"])
def test_brokers_that_are_not_up_are_waited_for(option: str) -> None:
    impatient = {"kafka.default.api.timeout.ms": "1", option: "a"}
    with (
        cluster("127.0.0.1:1", **impatient) as found,
        pytest.raises(NetworkException, match=r"Connection refused, for 0\.001 s"),
    ):
        found.partitions()


def test_bounds_become_offsets(address: str) -> None:
    with cluster(address, subscribe="a") as found:
        both = found.partitions()
        assert found.offsets(both, Bound(EARLIEST)) == {ONE: 0, TWO: 0}
        assert found.offsets(both, Bound(LATEST)) == {ONE: 0, TWO: 3}
        assert found.offsets(both, Bound(LATEST, offsets=((TWO, 1),))) == {ONE: 0, TWO: 1}
        assert found.offsets(both, Bound(EARLIEST, timestamp=2000)) == {ONE: 0, TWO: 1}
        assert found.offsets(both, Bound(EARLIEST, timestamp=9000))[TWO] == 3
        with pytest.raises(ValueError, match="a-0 has no record at 2000 or later; with"):
            found.offsets(both, Bound(EARLIEST, timestamp=2000, is_strict=True))
        strict = Bound(EARLIEST, timestamps=((TWO, 2000),), is_strict=True)
        assert found.offsets(both, strict) == {ONE: 0, TWO: 1}
        with pytest.raises(ValueError, match="b-0, which is not read"):
            found.offsets(both, Bound(EARLIEST, offsets=((OTHER, 1),)))


def test_partitions_that_appear_are_found_at_the_next_question(address: str) -> None:
    with cluster(address, subscribe="a") as found, Admin(bootstrap_servers=address) as admin:
        assert found.partitions() == [ONE, TWO]
        admin.create_partitions({"a": 3}).check()
        assert found.partitions() == [ONE, TWO, TopicPartition("a", 2)]


def test_topics_that_appear_are_found_by_a_pattern(address: str) -> None:
    pattern = cluster(address, subscribePattern="[ac]")
    with pattern as found, Admin(bootstrap_servers=address) as admin:
        assert found.partitions() == [ONE, TWO]
        admin.create_topics([NewTopic("c", partitions=1)]).check()
        assert found.partitions() == [ONE, TWO, TopicPartition("c", 0)]


def test_a_topic_that_is_not_there_is_named(address: str) -> None:
    with cluster(address, subscribe="a,ordres") as found:
        assert found.partitions_found() == [ONE, TWO]
        with pytest.raises(KafkaError, match="no topic 'ordres': create it first"):
            found.partitions()


def test_a_group_is_told_how_far_the_query_is(address: str) -> None:
    with cluster(address, subscribe="a", commitGroup="jobs") as found:
        found.commit({ONE: 0, TWO: 2})
        found.try_commit({TWO: 3})
    with Admin(bootstrap_servers=address) as admin:
        offsets = admin.list_group_offsets("jobs")["jobs"]
    assert {each: at.offset for each, at in offsets.items()} == {ONE: 0, TWO: 3}


def test_a_group_that_cannot_be_told_does_not_end_the_query(
    kafka: EmbeddedBroker, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    kafka.control("OffsetCommit", lambda _: Fail(ErrorCode.GROUP_AUTHORIZATION_FAILED))
    with cluster(address, subscribe="a", commitGroup="jobs") as found:
        found.try_commit({ONE: 0})
        with pytest.raises(KafkaError):
            found.commit({ONE: 0})
    assert "Failed to commit offsets to group jobs" in caplog.text


def test_a_query_goes_on_where_its_group_is_and_begins_where_that_says_nothing(
    address: str,
) -> None:
    with cluster(address, subscribe="a,b", commitGroup="going-on") as found:
        everything = found.partitions()
        assert found.offsets(everything, Bound(COMMITTED)) == {ONE: 0, TWO: 0, OTHER: 0}
        # An offset behind the end is of a topic that was made anew.
        found.commit({TWO: 2, OTHER: 7})
        assert found.offsets(everything, Bound(COMMITTED)) == {ONE: 0, TWO: 2, OTHER: 0}
