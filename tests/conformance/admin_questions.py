"""Requests of administrators, right and wrong, in an order in which each finds what it needs.

The broker they are for has the id 1, creates no topics by itself and is new.
"""

from collections.abc import Iterator
from typing import Any

from moldau.protocol.messages import alter_client_quotas as altered_quotas
from moldau.protocol.messages import alter_configs, create_partitions, create_topics
from moldau.protocol.messages import alter_partition_reassignments as reassignments
from moldau.protocol.messages import alter_replica_log_dirs as log_dirs
from moldau.protocol.messages import describe_client_quotas as described_quotas
from moldau.protocol.messages import incremental_alter_configs as incremental
from moldau.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from moldau.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from moldau.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from moldau.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from moldau.protocol.messages.describe_acls import DescribeAclsRequest
from moldau.protocol.messages.describe_cluster import DescribeClusterRequest
from moldau.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from moldau.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from moldau.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from moldau.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from moldau.protocol.primitives import NO_UUID

TOPIC, GROUP, BROKER, LOGGER = 2, 3, 4, 8
SET, DELETE, APPEND, SUBTRACT = range(4)
TIMEOUT_MS = 10_000

Question = tuple[str, object]


def questions() -> Iterator[Question]:
    """Every question with its name."""
    yield from _creations()
    yield from _growth()
    yield from _incremental_changes()
    yield from _replacements()
    yield from _descriptions()
    yield from _deletions_of_records()
    yield from _elections_and_moves()
    yield from _security_and_cluster()
    yield from _quotas()
    yield from _deletions()


def _creations() -> Iterator[Question]:
    def create(
        name: str,
        count: int = 1,
        factor: int = 1,
        *,
        assigned: dict[int, list[int]] | None = None,
        config: dict[str, str | None] | None = None,
        **more: int,
    ) -> create_topics.CreateTopicsRequest:
        topic = create_topics.CreatableTopic(
            name=name,
            num_partitions=count,
            replication_factor=factor,
            assignments=[
                create_topics.CreatableReplicaAssignment(partition_index=number, broker_ids=brokers)
                for number, brokers in (assigned or {}).items()
            ],
            configs=[
                create_topics.CreatableTopicConfig(name=key, value=value)
                for key, value in (config or {}).items()
            ],
        )
        topics = [topic] * more.get("times", 1)
        timeout_ms = more.get("timeout_ms", TIMEOUT_MS)
        return create_topics.CreateTopicsRequest(topics=topics, timeout_ms=timeout_ms)

    yield "create", create("a")
    yield "create: exists", create("a")
    yield "create: twice in one request", create("b", times=2)
    yield "create: count and assignment", create("c", assigned={0: [1]})
    yield "create: assigned", create("d", -1, -1, assigned={0: [1], 1: [1]})
    yield "create: a gap", create("e", -1, -1, assigned={0: [1], 2: [1]})
    yield "create: a broker twice", create("e", -1, -1, assigned={0: [1, 1]})
    yield "create: no such broker", create("f", -1, -1, assigned={0: [9]}, timeout_ms=100)
    for factor in (0, 4):
        yield f"create: replication factor {factor}", create("e", 1, factor)
    for count in (0, -2):
        yield f"create: {count} partitions", create("e", count)
    yield "create: defaults", create("g", -1, -1)
    for value in (None, "x"):
        yield f"create: setting {value}", create("e", config={"retention.ms": value})
    yield "create: no such setting", create("e", config={"no.such": "1"})
    for name in ("", ".", "..", "x" * 250, "ü", "a/b", "__cluster_metadata"):
        yield f"create: name {name[:30]!r}", create(name)
    yield "create: with a dot", create("x.y")
    yield "create: collides", create("x_y")
    yield "create: no time", create("h", timeout_ms=0)
    yield "create: compacted", create("compacted", config={"cleanup.policy": "compact"})


def _growth() -> Iterator[Question]:
    def grow(
        name: str, count: int, assigned: list[list[int]] | None = None, times: int = 1
    ) -> create_partitions.CreatePartitionsRequest:
        given = None
        if assigned is not None:
            given = [
                create_partitions.CreatePartitionsAssignment(broker_ids=brokers)
                for brokers in assigned
            ]
        topic = create_partitions.CreatePartitionsTopic(name=name, count=count, assignments=given)
        return create_partitions.CreatePartitionsRequest(
            topics=[topic] * times, timeout_ms=TIMEOUT_MS, validate_only=False
        )

    yield "grow", grow("a", 2)
    yield "grow: as many", grow("a", 2)
    yield "grow: fewer", grow("a", 1)
    yield "grow: no such topic", grow("none", 2)
    yield "grow: too few assignments", grow("a", 4, [[1]])
    yield "grow: no such broker", grow("a", 3, [[9]])
    yield "grow: a broker twice", grow("a", 3, [[1, 1]])
    yield "grow: twice in one request", grow("a", 8, times=2)


def _incremental_changes() -> Iterator[Question]:
    def change(
        kind: int, name: str, *changes: tuple[str, int, str | None]
    ) -> incremental.IncrementalAlterConfigsRequest:
        resource = incremental.AlterConfigsResource(
            resource_type=kind,
            resource_name=name,
            configs=[
                incremental.AlterableConfig(name=key, config_operation=operation, value=value)
                for key, operation, value in changes
            ],
        )
        return incremental.IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)

    retention = "retention.ms"
    yield "change", change(TOPIC, "a", (retention, SET, "1234"))
    yield "change: bad value", change(TOPIC, "a", (retention, SET, "x"))
    yield "change: no value", change(TOPIC, "a", (retention, SET, None))
    yield "change: twice", change(TOPIC, "a", (retention, SET, "1"), (retention, SET, "2"))
    yield "change: no such setting", change(TOPIC, "a", ("no.such", SET, "1"))
    yield "change: append to a number", change(TOPIC, "a", (retention, APPEND, "1"))
    yield "change: append", change(TOPIC, "a", ("cleanup.policy", APPEND, "compact"))
    yield "change: subtract", change(TOPIC, "a", ("cleanup.policy", SUBTRACT, "delete"))
    yield "change: no such operation", change(TOPIC, "a", (retention, 9, "1"))
    for name in ("none", "a/b", ""):
        yield f"change: topic {name!r}", change(TOPIC, name, (retention, SET, "1"))
    for kind in (GROUP, 77):
        yield f"change: type {kind}", change(kind, "x", (retention, SET, "1"))
    key = "log.retention.ms"
    yield "change: broker", change(BROKER, "1", (key, SET, "55555"))
    yield "change: static setting", change(BROKER, "1", ("broker.id", SET, "2"))
    for name in ("2", "x"):
        yield f"change: broker {name}", change(BROKER, name, (key, SET, "1"))
    yield "change: bad value of a broker", change(BROKER, "1", (key, SET, "x"))
    yield "change: all brokers", change(BROKER, "", ("log.cleaner.threads", SET, "2"))
    yield "change: not for all", change(BROKER, "", ("listeners", SET, "PLAINTEXT://:1"))
    secret = "listener.name.plaintext.ssl.key.password"
    yield "change: a secret", change(BROKER, "1", (secret, SET, "x"))
    yield "change: take back", change(BROKER, "1", (key, DELETE, None))


def _replacements() -> Iterator[Question]:
    def replace(kind: int, name: str, value: str | None) -> alter_configs.AlterConfigsRequest:
        config = alter_configs.AlterableConfig(name="retention.ms", value=value)
        resource = alter_configs.AlterConfigsResource(
            resource_type=kind, resource_name=name, configs=[config]
        )
        return alter_configs.AlterConfigsRequest(resources=[resource], validate_only=False)

    yield "replace", replace(TOPIC, "a", "77")
    yield "replace: no value", replace(TOPIC, "a", None)
    yield "replace: bad value", replace(TOPIC, "a", "x")
    yield "replace: loggers", replace(LOGGER, "1", "x")


def _descriptions() -> Iterator[Question]:
    cases = [
        *((TOPIC, name) for name in ("a", "none", "a/b")),
        *((BROKER, name) for name in ("1", "", "2", "x")),
        *((LOGGER, name) for name in ("1", "", "2")),
        (GROUP, "g"),
    ]
    for kind, name in cases:
        resource = DescribeConfigsResource(
            resource_type=kind, resource_name=name, configuration_keys=None
        )
        request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
        yield f"describe: type {kind}, name {name!r}", request


def _deletions_of_records() -> Iterator[Question]:
    for topic, number, offset in [
        ("a", 0, -1),
        ("a", 0, 5),
        ("a", 0, -2),
        ("a", 77, 0),
        ("none", 0, 0),
        ("compacted", 0, 0),
    ]:
        partition = DeleteRecordsPartition(partition_index=number, offset=offset)
        request = DeleteRecordsRequest(
            topics=[DeleteRecordsTopic(name=topic, partitions=[partition])], timeout_ms=TIMEOUT_MS
        )
        yield f"delete records: {topic}-{number} before {offset}", request


def _elections_and_moves() -> Iterator[Question]:
    def elect(kind: int, partitions: dict[str, list[int]] | None) -> ElectLeadersRequest:
        asked = None
        if partitions is not None:
            asked = [
                TopicPartitions(topic=name, partitions=numbers)
                for name, numbers in partitions.items()
            ]
        return ElectLeadersRequest(election_type=kind, topic_partitions=asked)

    yield "elect", elect(0, {"a": [0, 99], "none": [0]})
    yield "elect: everywhere but one", elect(1, {"a": [0]})
    yield "elect: no such election", elect(9, {"a": [0]})
    wishes = [("a", [1]), ("a", None), ("none", [1]), ("a", [9]), ("a", []), ("a", [1, 1])]
    for topic, replicas in wishes:
        wish = reassignments.ReassignablePartition(partition_index=0, replicas=replicas)
        yield (
            f"reassign: {topic} to {replicas}",
            reassignments.AlterPartitionReassignmentsRequest(
                topics=[reassignments.ReassignableTopic(name=topic, partitions=[wish])]
            ),
        )
    yield "list reassignments", ListPartitionReassignmentsRequest(topics=None)
    for path in ("/nowhere", "nowhere"):
        topics = [log_dirs.AlterReplicaLogDirTopic(name="a", partitions=[0])]
        yield (
            f"move to {path}",
            log_dirs.AlterReplicaLogDirsRequest(
                dirs=[log_dirs.AlterReplicaLogDir(path=path, topics=topics)]
            ),
        )


def _security_and_cluster() -> Iterator[Question]:
    anything: dict[str, Any] = {
        "resource_type_filter": 1,
        "resource_name_filter": None,
        "principal_filter": None,
        "host_filter": None,
        "operation": 1,
        "permission_type": 1,
    }
    creation = AclCreation(
        resource_type=2,
        resource_name="a",
        principal="User:a",
        host="*",
        operation=3,
        permission_type=3,
    )
    yield "rules: describe", DescribeAclsRequest(**anything)
    yield "rules: create", CreateAclsRequest(creations=[creation])
    yield "rules: delete", DeleteAclsRequest(filters=[DeleteAclsFilter(**anything)])
    for endpoint_type in (1, 2, 9):
        request = DescribeClusterRequest(
            include_cluster_authorized_operations=True, endpoint_type=endpoint_type
        )
        yield f"cluster: endpoints of type {endpoint_type}", request
    for name in ("a", "none", "a/b"):
        topic = TopicRequest(name=name, partition_indexes=[0, 99])
        yield f"producers of {name}", DescribeProducersRequest(topics=[topic])


def _quotas() -> Iterator[Question]:
    def alter(
        entity: dict[str, str | None], key: str, value: float
    ) -> altered_quotas.AlterClientQuotasRequest:
        entry = altered_quotas.RequestEntryData(
            entity=[
                altered_quotas.EntityData(entity_type=kind, entity_name=name)
                for kind, name in entity.items()
            ],
            ops=[altered_quotas.OpData(key=key, value=value, remove=False)],
        )
        return altered_quotas.AlterClientQuotasRequest(entries=[entry], validate_only=False)

    rate = "producer_byte_rate"
    yield "quota", alter({"user": "u", "client-id": None}, rate, 5.0)
    yield "quota: no such key", alter({"user": "u"}, "no_such", 5.0)
    yield "quota: no such type", alter({"planet": "u"}, rate, 5.0)
    yield "quota: no name", alter({"user": ""}, rate, 5.0)
    yield "quota: of nobody", alter({}, rate, 5.0)
    yield "quota: a fraction", alter({"user": "u"}, rate, 5.5)
    yield "quota: less than nothing", alter({"user": "u"}, rate, -1.0)
    yield "quota: no address", alter({"ip": "no.address"}, "connection_creation_rate", 5.0)
    yield "quota: no client id", alter({"client-id": ""}, rate, 5.0)
    yield "quota: of both", alter({"user": "u", "ip": "10.0.0.1"}, rate, 5.0)
    yield "quota: not of an address", alter({"ip": "10.0.0.1"}, rate, 5.0)
    yield "quota: of a host", alter({"ip": "localhost"}, "connection_creation_rate", 5.0)
    for kinds in (("user", "user"), ("client-id", "client-id"), ("user", "ip"), ("",), ("x",)):
        components = [
            described_quotas.ComponentData(entity_type=kind, match_type=2, match=None)
            for kind in kinds
        ]
        yield (
            f"quotas of {' and '.join(kinds)}",
            described_quotas.DescribeClientQuotasRequest(components=components, strict=False),
        )
    for kind in ("user", "planet"):
        component = described_quotas.ComponentData(entity_type=kind, match_type=2, match=None)
        yield (
            f"quotas of any {kind}",
            described_quotas.DescribeClientQuotasRequest(components=[component], strict=False),
        )


def _deletions() -> Iterator[Question]:
    for name, topic_id in [
        ("none", NO_UUID),
        (None, b"x" * 16),
        ("a", b"x" * 16),
        ("d", NO_UUID),
        ("d", NO_UUID),
    ]:
        state = DeleteTopicState(name=name, topic_id=topic_id)
        yield (
            f"delete: {name}, {topic_id[:1]!r}",
            DeleteTopicsRequest(topics=[state], topic_names=[], timeout_ms=TIMEOUT_MS),
        )
