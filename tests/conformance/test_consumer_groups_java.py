"""Java's consumers in the consumer protocol (KIP-848), and Apache's tool, against our broker."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.apache.tools import ApacheTools
from conformance.conftest import show_download
from conformance.fleet import Fleet, create_topic, until
from conformance.our_broker import OurBroker, our_broker
from moldau.protocol.messages.list_groups import ListGroupsRequest
from moldau.testing.wire import WireClient

VERSIONS = {"3.9": ("kafka-3.9",), "4": ("clients-4", "json")}
SETTINGS = {
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "3000",
    "group.min.session.timeout.ms": "1000",
}
CLASSIC = {"group.protocol": "classic", "heartbeat.interval.ms": "200"}
COOPERATIVE = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurBroker]:
    with our_broker(tmp_path_factory.mktemp("broker"), SETTINGS) as running:
        yield running


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=needs_apache(*VERSIONS[name])) for name in VERSIONS],
)
def java(request: pytest.FixtureRequest) -> Iterator[JavaProgram]:
    for section in VERSIONS[request.param]:
        show_download(request, section)
    with JavaProgram("members", *VERSIONS[request.param]) as program:
        program.version = request.param  # type: ignore[attr-defined]
        yield program


@pytest.fixture(scope="module")
def newest(request: pytest.FixtureRequest) -> Iterator[JavaProgram]:
    for section in VERSIONS["4"]:
        show_download(request, section)
    with JavaProgram("members", *VERSIONS["4"]) as program:
        yield program


def fleet(java: JavaProgram, broker: OurBroker, what: str) -> Fleet:
    """A group of its own for each version."""
    return Fleet(java, broker, f"{what}-{getattr(java, 'version', '4')}")


def kind_of(broker: OurBroker, group: str) -> str:
    with WireClient(broker.bootstrap) as client:
        groups = client.ask(ListGroupsRequest(), 5).groups
    (kind,) = [each.group_type for each in groups if each.group_id == group]
    found: str = kind
    return found


def test_members_come_and_go(java: JavaProgram, broker: OurBroker) -> None:
    group = fleet(java, broker, "come-and-go")
    partitions = create_topic(broker, group.group)
    group.start("one", group.group)
    group.until_shared(*partitions)
    group.start("two", group.group)
    group.start("three", group.group, settings={"group.remote.assignor": "range"})
    group.until_shared(*partitions)
    group.stop("one")
    group.until_shared(*partitions)
    group.stop("three")
    group.until_shared(*partitions)
    group.stop("two")
    assert kind_of(broker, group.group) == "consumer"


@pytest.mark.parametrize("version", [pytest.param("4", marks=needs_apache(*VERSIONS["4"]))])
def test_a_killed_member_is_replaced_when_its_session_ends(
    newest: JavaProgram, broker: OurBroker, version: str
) -> None:
    group = Fleet(newest, broker, "killed")
    partitions = create_topic(broker, "killed")
    with JavaProgram("members", *VERSIONS[version]) as other:
        group.start("alive", "killed")
        group.start("killed", "killed", java=other)
        group.until_shared(*partitions)
    del group.running["killed"]
    group.until_shared(*partitions)
    group.stop("alive")


@needs_apache(*VERSIONS["4"])
def test_the_broker_knows_what_matches_a_pattern(newest: JavaProgram, broker: OurBroker) -> None:
    group = Fleet(newest, broker, "patterns")
    first = create_topic(broker, "pattern.a", 2)
    create_topic(broker, "another", 1)
    group.start("one", regex="pattern\\.[a-c]+")
    group.until_shared(*first)
    second = create_topic(broker, "pattern.b", 1)
    group.until_shared(*first, *second)
    group.start("two", "pattern.a")
    group.until_shared(*first, *second)
    for name in ("one", "two"):
        group.stop(name)


def test_a_static_member_keeps_its_partitions(java: JavaProgram, broker: OurBroker) -> None:
    group = fleet(java, broker, "static")
    partitions = create_topic(broker, group.group)
    group.start("one", group.group, settings={"group.instance.id": "one"})
    group.start("two", group.group, settings={"group.instance.id": "two"})
    group.until_shared(*partitions)
    before = group.partitions("one")
    group.stop("one")
    group.start("one", group.group, settings={"group.instance.id": "one"})
    group.until_shared(*partitions)
    assert group.partitions("one") == before
    for name in ("one", "two"):
        group.stop(name)


def test_reading_goes_on_where_it_was_committed(
    tools: ApacheTools, java: JavaProgram, broker: OurBroker
) -> None:
    group = fleet(java, broker, "commits")
    create_topic(broker, group.group, 1)
    tools.run(
        "kafka-producer-perf-test.sh",
        *("--topic", group.group, "--num-records", "30", "--record-size", "10"),
        *("--throughput", "-1", "--producer-props", f"bootstrap.servers={broker.bootstrap}"),
    )
    group.start("one", group.group)
    until(lambda: len(java.call("seen", member=f"{group.group}-one")["values"]) == 30)
    assert len(group.stop("one")) == 30
    group.start("one", group.group)
    group.until_shared(f"{group.group}-0")
    assert group.stop("one") == []


@pytest.mark.parametrize("strategy", ["", COOPERATIVE])
def test_a_group_changes_its_protocol_while_its_members_go_on(
    java: JavaProgram, broker: OurBroker, strategy: str
) -> None:
    group = fleet(java, broker, f"migration-{'cooperative' if strategy else 'eager'}")
    settings = {**CLASSIC, **({"partition.assignment.strategy": strategy} if strategy else {})}
    partitions = create_topic(broker, group.group)
    group.start("old", group.group, settings=settings)
    group.until_shared(*partitions)
    assert kind_of(broker, group.group) == "classic"
    group.start("new", group.group)
    group.until_shared(*partitions)
    assert kind_of(broker, group.group) == "consumer"
    group.stop("old")
    group.until_shared(*partitions)
    group.start("old", group.group, settings=settings)
    group.until_shared(*partitions)
    group.stop("new")
    group.until_shared(*partitions)
    assert kind_of(broker, group.group) == "classic"
    group.stop("old")


@needs_apache("kafka-3.9", *VERSIONS["4"])
def test_the_tool_describes_a_group(
    tools: ApacheTools, newest: JavaProgram, broker: OurBroker
) -> None:
    group = Fleet(newest, broker, "tool")
    create_topic(broker, "tool", 2)
    group.start("one", "tool", settings={"client.id": "somebody"})
    group.until_shared("tool-0", "tool-1")
    until(lambda: "Stable" in tool(tools, broker, "--describe", "--state", "--group", "tool"))
    state = tool(tools, broker, "--describe", "--state", "--group", "tool")
    assert re.search(r"tool\s+\S+\s+\(0\)\s+uniform\s+Stable\s+1", state), state
    members = tool(tools, broker, "--describe", "--members", "--verbose", "--group", "tool")
    assert re.search(r"somebody\s+2\s+\(0,1\)", members), members
    listed = tool(tools, broker, "--list", "--type", "consumer")
    assert re.search(r"tool\s+Consumer", listed), listed
    assert "GroupNotEmptyException" in tool(tools, broker, "--delete", "--group", "tool")
    group.stop("one")
    assert "successful" in tool(tools, broker, "--delete", "--group", "tool")


def tool(tools: ApacheTools, broker: OurBroker, *arguments: str) -> str:
    run = tools.run(
        "kafka-consumer-groups.sh",
        *("--bootstrap-server", broker.bootstrap, *arguments),
    )
    return run.stdout + run.stderr


@needs_apache("kafka-3.9", *VERSIONS["4"])
def test_the_dump_tool_reads_our_records(
    tools: ApacheTools, newest: JavaProgram, tmp_path: Path
) -> None:
    with our_broker(tmp_path, {**SETTINGS, "offsets.topic.num.partitions": "1"}) as broker:
        create_topic(broker, "dumped", 2)
        group = Fleet(newest, broker, "dumped")
        group.start("one", regex="dumped")
        group.until_shared("dumped-0", "dumped-1")
        group.stop("one")
        broker.stop()
        log = broker.log_directory / "__consumer_offsets-0" / f"{0:020}.log"
        dump = tools.run(
            "kafka-dump-log.sh",
            *("--offsets-decoder", "--deep-iteration", "--files", str(log)),
        ).stdout
    stored = {
        "3": '{"epoch":1}',
        "4": '"topicName":"dumped","numPartitions":2,"partitionMetadata":[]}]}',
        "5": '"subscribedTopicRegex":"dumped","rebalanceTimeoutMs":300000,',
        "6": '{"assignmentEpoch":1}',
        "7": '"partitions":[0,1]}]}',
        "8": '{"memberEpoch":1,"previousMemberEpoch":0,"state":0,"assignedPartitions":[{',
    }
    for kind, content in stored.items():
        key = rf'key: \{{"type":"{kind}","data":\{{"groupId":"dumped"'
        pattern = rf'{key}.* payload: \{{"version":"0","data":.*{re.escape(content)}'
        assert re.search(pattern, dump), (kind, dump)
    assert re.search(r'"type":"8".* payload: <DELETE>', dump), "who left is deleted"
