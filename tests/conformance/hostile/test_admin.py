"""Topics that cannot be, and settings that must not be told."""

import pytest

from conformance.hostile.requests import TOPIC
from moldau.errors import ErrorCode
from moldau.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from moldau.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from moldau.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from moldau.testing.wire import WireClient
from unit.testing.requests import metadata

BROKER = 4


def topic(name: str = "made", partitions: int = 1, factor: int = 1) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[],
        configs=[],
    )


def assigned(*replicas: int, factor: int = -1) -> CreatableTopic:
    made = topic(partitions=-1, factor=factor)
    made.assignments = [CreatableReplicaAssignment(partition_index=0, broker_ids=list(replicas))]
    return made


def configured(name: str, value: str) -> CreatableTopic:
    made = topic()
    made.configs = [CreatableTopicConfig(name=name, value=value)]
    return made


def codes(client: WireClient, *topics: CreatableTopic) -> set[int]:
    response = client.ask(CreateTopicsRequest(topics=list(topics)), 7)
    return {one.error_code for one in response.topics}


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 250, "ünicode", "a/b", "a\0b"])
def test_a_name_that_no_topic_can_have_is_refused(client: WireClient, name: str) -> None:
    assert codes(client, topic(name)) == {ErrorCode.INVALID_TOPIC_EXCEPTION}


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (topic(partitions=0), ErrorCode.INVALID_PARTITIONS),
        (topic(partitions=-2), ErrorCode.INVALID_PARTITIONS),
        (topic(factor=0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic(factor=4), ErrorCode.INVALID_REPLICATION_FACTOR),
        (assigned(0, factor=1), ErrorCode.INVALID_REQUEST),
        (assigned(0, 0), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (assigned(7), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (assigned(), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (configured("no.such.thing", "1"), ErrorCode.INVALID_CONFIG),
        (configured("retention.ms", "soon"), ErrorCode.INVALID_CONFIG),
    ],
)
def test_a_topic_that_cannot_be_is_refused(
    client: WireClient, wanted: CreatableTopic, code: ErrorCode
) -> None:
    assert codes(client, wanted) == {code}
    known = [one.name for one in client.ask(metadata(TOPIC)).topics]
    assert known == [TOPIC]


def test_a_topic_twice_in_one_request_is_refused(client: WireClient) -> None:
    assert codes(client, topic(), topic()) == {ErrorCode.INVALID_REQUEST}


def test_very_many_topics_that_cannot_be_leave_nothing_behind(client: WireClient) -> None:
    wanted = [topic(f"no/{number}") for number in range(4_000)]
    for _ in range(4):
        assert codes(client, *wanted) == {ErrorCode.INVALID_TOPIC_EXCEPTION}


def test_a_password_is_never_told(client: WireClient) -> None:
    name = "listener.name.plaintext.plain.sasl.jaas.config"
    change = AlterableConfig(name=name, config_operation=0, value="user secret")
    resource = AlterConfigsResource(resource_type=BROKER, resource_name="0", configs=[change])
    client.ask(IncrementalAlterConfigsRequest(resources=[resource], validate_only=False), 1)
    asked = DescribeConfigsResource(
        resource_type=BROKER, resource_name="0", configuration_keys=None
    )
    (result,) = client.ask(DescribeConfigsRequest(resources=[asked]), 4).results
    assert result.error_code == ErrorCode.NONE
    secret = [one for one in result.configs if one.is_sensitive]
    assert secret
    assert all(one.value is None for one in secret)
    assert all("secret" not in (one.value or "") for one in result.configs)
