"""Classic groups of Java's consumers, old, of Kafka 3.9 and newest, against our broker."""

import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from conformance.apache.lines import JavaError, JavaProgram
from conformance.apache.marks import needs_apache
from conformance.conftest import show_download
from conformance.fleet import DEADLINE_S, Fleet, create_topic
from conformance.our_broker import OurBroker, our_broker
from conformance.test_clients_java import VERSIONS

# Static members came with 2.3, cooperative ones with 2.4.
since_24 = pytest.mark.parametrize(
    "version",
    [pytest.param(name, marks=needs_apache(*VERSIONS[name])) for name in ("3.9", "4")],
    indirect=True,
)
DAY_MS = 24 * 60 * 60 * 1000
SETTINGS = {"group.min.session.timeout.ms": "1000"}
CLASSIC = {
    "group.protocol": "classic",
    "heartbeat.interval.ms": "200",
    "session.timeout.ms": "6000",
}
COOPERATIVE = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurBroker]:
    with our_broker(tmp_path_factory.mktemp("broker"), SETTINGS) as running:
        yield running


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=needs_apache(*VERSIONS[name])) for name in VERSIONS],
)
def version(request: pytest.FixtureRequest) -> str:
    for section in VERSIONS[request.param]:
        show_download(request, section)
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def java(version: str) -> Iterator[JavaProgram]:
    with JavaProgram("members", *VERSIONS[version]) as program:
        yield program


def test_members_come_go_and_are_killed(java: JavaProgram, broker: OurBroker, version: str) -> None:
    group = Fleet(java, broker, f"come-and-go-{version}")
    partitions = create_topic(broker, group.group)
    short = {**CLASSIC, "session.timeout.ms": "2000"}
    group.start("one", group.group, settings=CLASSIC)
    group.until_shared(*partitions)
    with JavaProgram("members", *VERSIONS[version]) as other:
        group.start("two", group.group, settings=CLASSIC)
        group.start("killed", group.group, java=other, settings=short)
        group.until_shared(*partitions)
        group.stop("one")
        group.until_shared(*partitions)
    del group.running["killed"]
    group.until_shared(*partitions)
    group.stop("two")


def test_a_pattern_takes_in_topics_that_are_created_later(
    java: JavaProgram, broker: OurBroker, version: str
) -> None:
    group = Fleet(java, broker, f"pattern-{version}")
    create_topic(broker, f"other-{version}", 1)
    first = create_topic(broker, f"matching-{version}-a", 2)
    for name in ("one", "two"):
        group.start(name, regex=f"matching-{version}-[ab]", settings=CLASSIC)
    group.until_shared(*first)
    second = create_topic(broker, f"matching-{version}-b", 2)
    group.until_shared(*first, *second)
    for name in ("one", "two"):
        group.stop(name)


@since_24
def test_a_cooperative_member_gives_away_only_what_another_gets(
    java: JavaProgram, broker: OurBroker, version: str
) -> None:
    settings = {**CLASSIC, "partition.assignment.strategy": COOPERATIVE}
    group = Fleet(java, broker, f"cooperative-{version}")
    partitions = create_topic(broker, group.group)
    group.start("one", group.group, settings=settings)
    group.until_shared(*partitions)
    group.start("two", group.group, settings=settings)
    group.until_shared(*partitions)
    assert group.revoked("one") == group.partitions("two")
    group.stop("one")
    group.until_shared(*partitions)
    assert group.revoked("two") == []
    group.stop("two")


@since_24
def test_a_static_member_comes_back_without_a_rebalance(
    java: JavaProgram, broker: OurBroker, version: str
) -> None:
    settings = {name: {**CLASSIC, "group.instance.id": name} for name in ("one", "two")}
    for each in settings.values():
        each["session.timeout.ms"] = "60000"
    group = Fleet(java, broker, f"static-{version}")
    partitions = create_topic(broker, group.group)
    for name, own in settings.items():
        group.start(name, group.group, settings=own)
    group.until_shared(*partitions)
    before = group.partitions("one"), group.revoked("two")
    group.stop("one")
    group.start("one", group.group, settings=settings["one"])
    group.until_shared(*partitions)
    assert (group.partitions("one"), group.revoked("two")) == before
    for name in settings:
        group.stop(name)


def test_a_group_without_offsets_begins_where_it_is_told(
    java: JavaProgram, broker: OurBroker, version: str
) -> None:
    topic = f"resets-{version}"
    create_topic(broker, topic, 1)
    now_ms = int(time.time() * 1000)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for age in (3, 2, 1):
        producer.produce(topic, b"", partition=0, timestamp=now_ms - age * DAY_MS)
    assert producer.flush(DEADLINE_S) == 0

    def position(reset: str, **more: object) -> int:
        settings = {
            "group.id": topic,
            "auto.offset.reset": reset,
            "enable.auto.commit": "false",
        }
        found: int = java.call(
            "position", bootstrap=broker.bootstrap, topic=topic, settings=settings, **more
        )
        return found

    assert position("earliest") == 0
    assert position("latest") == 3
    assert position("latest", time=now_ms - 2 * DAY_MS) == 1
    with pytest.raises(JavaError, match="NoOffsetForPartition"):
        position("none")
    if version == "4":  # since 4.0 (KIP-1106)
        assert position("by_duration:PT36H") == 2
