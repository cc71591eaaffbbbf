"""Administration through clients of others: librdkafka's and a pure Python one."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)
from confluent_kafka.error import KafkaException
from kafka.admin import ConfigResource as PythonConfigResource
from kafka.admin import ConfigResourceType, KafkaAdminClient
from kafka.admin import NewPartitions as PythonNewPartitions
from kafka.admin import NewTopic as PythonNewTopic

from moldau.testing.broker import EmbeddedBroker, running_broker

TIMEOUT_S = 10


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with running_broker({"auto.create.topics.enable": "false"}) as broker:
        yield broker


@pytest.fixture
def admin(broker: EmbeddedBroker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap_servers})


def create(admin: AdminClient, name: str, partitions: int = 1, **config: str) -> None:
    settings = {key.replace("_", "."): value for key, value in config.items()}
    created = admin.create_topics([NewTopic(name, partitions, 1, config=settings)])
    created[name].result(TIMEOUT_S)


def describe(admin: AdminClient, kind: ResourceType, name: str) -> dict[str, ConfigEntry]:
    resource = ConfigResource(kind, name)
    found: dict[str, ConfigEntry] = admin.describe_configs([resource])[resource].result(TIMEOUT_S)
    return found


def test_librdkafka_creates_grows_and_deletes_topics(admin: AdminClient) -> None:
    create(admin, "t", 2)
    assert len(admin.list_topics("t", TIMEOUT_S).topics["t"].partitions) == 2
    admin.create_partitions([NewPartitions("t", 5)])["t"].result(TIMEOUT_S)
    assert len(admin.list_topics("t", TIMEOUT_S).topics["t"].partitions) == 5
    admin.delete_topics(["t"])["t"].result(TIMEOUT_S)
    assert "t" not in admin.list_topics(timeout=TIMEOUT_S).topics


def test_librdkafka_is_told_why_a_topic_cannot_be(admin: AdminClient) -> None:
    create(admin, "t")
    with pytest.raises(KafkaException, match="already exists"):
        create(admin, "t")
    with pytest.raises(KafkaException, match=r"retention\.ms"):
        create(admin, "u", retention_ms="soon")


def test_librdkafka_sees_where_settings_come_from(admin: AdminClient) -> None:
    create(admin, "t", retention_ms="1000")
    configs = describe(admin, ResourceType.TOPIC, "t")
    assert configs["retention.ms"].value == "1000"
    # The client declares it as the enum, but gives the number.
    source: object = configs["retention.ms"].source
    assert source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value
    assert configs["segment.bytes"].is_default
    assert "log.segment.bytes" in configs["segment.bytes"].synonyms


def test_librdkafka_changes_settings_of_topics_and_brokers(admin: AdminClient) -> None:
    create(admin, "t")
    change = ConfigEntry(
        "cleanup.policy", "compact", incremental_operation=AlterConfigOpType.APPEND
    )
    topic = ConfigResource(ResourceType.TOPIC, "t", incremental_configs=[change])
    change = ConfigEntry("log.retention.ms", "5000", incremental_operation=AlterConfigOpType.SET)
    broker = ConfigResource(ResourceType.BROKER, "0", incremental_configs=[change])
    for altered in admin.incremental_alter_configs([topic]).values():
        altered.result(TIMEOUT_S)
    for altered in admin.incremental_alter_configs([broker]).values():
        altered.result(TIMEOUT_S)
    configs = describe(admin, ResourceType.TOPIC, "t")
    assert (configs["cleanup.policy"].value, configs["retention.ms"].value) == (
        "delete,compact",
        "5000",
    )


def test_librdkafka_deletes_records(broker: EmbeddedBroker, admin: AdminClient) -> None:
    create(admin, "t")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(10):
        producer.produce("t", str(number))
    producer.flush(TIMEOUT_S)
    partition = TopicPartition("t", 0, 7)
    deleted = admin.delete_records([partition])[partition].result(TIMEOUT_S)
    assert deleted.low_watermark == 7
    earliest = admin.list_offsets({TopicPartition("t", 0): OffsetSpec.earliest()})
    assert [one.result(TIMEOUT_S).offset for one in earliest.values()] == [7]


def test_librdkafka_describes_the_cluster_and_its_topics(admin: AdminClient) -> None:
    create(admin, "t", 3)
    cluster = admin.describe_cluster(include_authorized_operations=True).result(TIMEOUT_S)
    assert [node.id for node in cluster.nodes] == [cluster.controller.id]
    assert cluster.authorized_operations
    names = TopicCollection(["t"])
    described = admin.describe_topics(names)["t"].result(TIMEOUT_S)
    assert [one.leader.id for one in described.partitions] == [0, 0, 0]


def test_librdkafka_is_told_that_there_are_no_rules(admin: AdminClient) -> None:
    rule = AclBinding(
        ResourceType.TOPIC,
        "t",
        ResourcePatternType.LITERAL,
        "User:alice",
        "*",
        AclOperation.READ,
        AclPermissionType.ALLOW,
    )
    with pytest.raises(KafkaException, match="Authorizer"):
        admin.create_acls([rule])[rule].result(TIMEOUT_S)


@pytest.fixture
def python_admin(broker: EmbeddedBroker) -> Iterator[KafkaAdminClient]:
    client = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    yield client
    client.close()


def test_kafka_python_creates_grows_and_deletes_topics(python_admin: KafkaAdminClient) -> None:
    python_admin.create_topics([PythonNewTopic("t", 2, 1)])
    python_admin.create_partitions({"t": PythonNewPartitions(3)})
    (topic,) = python_admin.describe_topics(["t"])
    assert [one["leader_id"] for one in topic["partitions"]] == [0, 0, 0]
    assert "READ" in topic["authorized_operations"]
    python_admin.delete_topics(["t"])
    assert python_admin.list_topics() == []


def test_kafka_python_reads_settings_cluster_and_log_directories(
    broker: EmbeddedBroker, python_admin: KafkaAdminClient
) -> None:
    python_admin.create_topics([PythonNewTopic("t", 1, 1, topic_configs={"retention.ms": "7"})])
    resource = PythonConfigResource(ConfigResourceType.TOPIC, "t")
    described = python_admin.describe_configs([resource])
    assert described["topic"]["t"]["retention.ms"]["value"] == "7"
    cluster = python_admin.describe_cluster()
    assert [one["broker_id"] for one in cluster["brokers"]] == [cluster["controller_id"]]
    (logs,) = python_admin.describe_log_dirs()
    (directory,) = logs["log_dirs"]
    assert directory["log_dir"] == str(broker.directory)
    assert [topic["name"] for topic in directory["topics"]] == ["t"]
