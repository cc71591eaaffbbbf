"""What each API asks for, and what a client gets that lacks it: the table of access rights.

Handlers ask; this says what they ask. The table in docs/security.md is made from it, and a test
tries every line of it against the handlers, so that none of the three can be wrong alone.
"""

from enum import Enum
from typing import NamedTuple

from moldau.broker.access.authorizer import DENIED
from moldau.errors import ErrorCode
from moldau.security.acls import Operation, ResourceType

_TOPIC, _GROUP = ResourceType.TOPIC, ResourceType.GROUP
_CLUSTER, _TRANSACTION = ResourceType.CLUSTER, ResourceType.TRANSACTIONAL_ID
_READ, _WRITE, _CREATE = Operation.READ, Operation.WRITE, Operation.CREATE
_DELETE, _ALTER, _DESCRIBE = Operation.DELETE, Operation.ALTER, Operation.DESCRIBE
_DESCRIBE_CONFIGS, _ALTER_CONFIGS = Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS

_ALL_VERSIONS = range(1_000)


class Hidden(Enum):
    """How a thing is kept secret without an error."""

    LEFT_OUT = "left out of the answer"
    NO_OPERATIONS = "no operations are listed"


class Right(NamedTuple):
    """Something to do with a type of resource."""

    operation: Operation
    resource_type: ResourceType

    def __str__(self) -> str:
        return f"{self.operation.label} {self.resource_type.label}"


class Requirement(NamedTuple):
    """Rights of which a client needs one, and what happens without."""

    rights: tuple[Right, ...]
    denied: ErrorCode | Hidden
    scope: str
    """What is refused or left out, or when it is asked for."""
    versions: range = _ALL_VERSIONS


def _one(
    operation: Operation,
    resource_type: ResourceType,
    scope: str = "all",
    denied: ErrorCode | Hidden | None = None,
    versions: range = _ALL_VERSIONS,
) -> Requirement:
    rights = (Right(operation, resource_type),)
    return Requirement(rights, denied or DENIED[resource_type], scope, versions)


def _either(*rights: Right, denied: ErrorCode, scope: str) -> Requirement:
    return Requirement(rights, denied, scope)


_OF_BROKERS = (_one(Operation.CLUSTER_ACTION, _CLUSTER),)
_OF_MEMBERS = (_one(_READ, _GROUP),)
_OF_CONFIGS = "each broker or logger"

REQUIREMENTS: dict[str, tuple[Requirement, ...]] = {
    "Produce": (
        _one(_WRITE, _TOPIC, "each topic"),
        _one(_WRITE, _TRANSACTION, "all, if any batch is of a transaction"),
    ),
    "Fetch": (
        _one(_READ, _TOPIC, "each topic, for consumers"),
        _one(
            Operation.CLUSTER_ACTION,
            _CLUSTER,
            "each topic, for replicas",
            ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ),
    ),
    "ListOffsets": (_one(_DESCRIBE, _TOPIC, "each topic"),),
    "Metadata": (
        _one(_DESCRIBE, _TOPIC, "each topic that is named"),
        _one(_DESCRIBE, _TOPIC, "each topic, where all are asked for", Hidden.LEFT_OUT),
        _either(
            Right(_CREATE, _CLUSTER),
            Right(_CREATE, _TOPIC),
            denied=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            scope="each topic that asking for it would create",
        ),
        _one(_DESCRIBE, _CLUSTER, "operations on the cluster", Hidden.NO_OPERATIONS, range(8, 11)),
    ),
    "LeaderAndIsr": _OF_BROKERS,
    "StopReplica": _OF_BROKERS,
    "UpdateMetadata": _OF_BROKERS,
    "ControlledShutdown": _OF_BROKERS,
    "OffsetCommit": (_one(_READ, _GROUP), _one(_READ, _TOPIC, "each topic")),
    "OffsetFetch": (
        _one(_DESCRIBE, _GROUP, "each group"),
        _one(_DESCRIBE, _TOPIC, "each topic that is named"),
        _one(_DESCRIBE, _TOPIC, "each topic, where all are asked for", Hidden.LEFT_OUT),
    ),
    "FindCoordinator": (
        _one(_DESCRIBE, _GROUP, "each group"),
        _one(_DESCRIBE, _TRANSACTION, "each transactional id", None, range(1, 1_000)),
    ),
    "JoinGroup": _OF_MEMBERS,
    "Heartbeat": _OF_MEMBERS,
    "LeaveGroup": _OF_MEMBERS,
    "SyncGroup": _OF_MEMBERS,
    "DescribeGroups": (_one(_DESCRIBE, _GROUP, "each group"),),
    "ListGroups": (
        Requirement(
            (Right(_DESCRIBE, _CLUSTER), Right(_DESCRIBE, _GROUP)), Hidden.LEFT_OUT, "each group"
        ),
    ),
    "SaslHandshake": (),
    "ApiVersions": (),
    "CreateTopics": (
        _either(
            Right(_CREATE, _CLUSTER),
            Right(_CREATE, _TOPIC),
            denied=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            scope="each topic",
        ),
        _one(_DESCRIBE_CONFIGS, _TOPIC, "settings in the answer", None, range(5, 1_000)),
    ),
    "DeleteTopics": (
        _one(_DELETE, _TOPIC, "each topic; by id, without Describe the name is left out"),
    ),
    "DeleteRecords": (_one(_DELETE, _TOPIC, "each topic"),),
    "InitProducerId": (
        _one(_WRITE, _TRANSACTION, "all, with a transactional id"),
        _either(
            Right(Operation.IDEMPOTENT_WRITE, _CLUSTER),
            Right(_WRITE, _TOPIC),
            denied=ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
            scope="all, without one; any topic will do",
        ),
    ),
    "OffsetForLeaderEpoch": (
        _either(
            Right(Operation.CLUSTER_ACTION, _CLUSTER),
            Right(_DESCRIBE, _TOPIC),
            denied=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            scope="each topic",
        ),
    ),
    "AddPartitionsToTxn": (
        _one(_WRITE, _TRANSACTION, "all, for producers", None, range(4)),
        _one(_WRITE, _TOPIC, "each topic, for producers; 55 for the others", None, range(4)),
        _one(Operation.CLUSTER_ACTION, _CLUSTER, "all, for brokers", None, range(4, 1_000)),
    ),
    "AddOffsetsToTxn": (_one(_WRITE, _TRANSACTION), _one(_READ, _GROUP)),
    "EndTxn": (_one(_WRITE, _TRANSACTION),),
    "WriteTxnMarkers": (
        _either(
            Right(_ALTER, _CLUSTER),
            Right(Operation.CLUSTER_ACTION, _CLUSTER),
            denied=ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
            scope="all",
        ),
    ),
    "TxnOffsetCommit": (
        _one(_WRITE, _TRANSACTION),
        _one(_READ, _GROUP),
        _one(_READ, _TOPIC, "each topic"),
    ),
    "DescribeAcls": (_one(_DESCRIBE, _CLUSTER),),
    "CreateAcls": (_one(_ALTER, _CLUSTER),),
    "DeleteAcls": (_one(_ALTER, _CLUSTER),),
    "DescribeConfigs": (
        _one(_DESCRIBE_CONFIGS, _TOPIC, "each topic"),
        _one(_DESCRIBE_CONFIGS, _CLUSTER, _OF_CONFIGS),
    ),
    "AlterConfigs": (
        _one(_ALTER_CONFIGS, _TOPIC, "each topic"),
        _one(_ALTER_CONFIGS, _CLUSTER, _OF_CONFIGS),
    ),
    "AlterReplicaLogDirs": (_one(_ALTER, _CLUSTER),),
    "DescribeLogDirs": (_one(_DESCRIBE, _CLUSTER, "all; no error before", None, range(3, 1_000)),),
    "SaslAuthenticate": (),
    "CreatePartitions": (_one(_ALTER, _TOPIC, "each topic"),),
    "CreateDelegationToken": (
        _one(Operation.CREATE_TOKENS, ResourceType.USER, "tokens for somebody else"),
    ),
    "RenewDelegationToken": (),
    "ExpireDelegationToken": (),
    "DescribeDelegationToken": (
        Requirement(
            (
                Right(_DESCRIBE, ResourceType.DELEGATION_TOKEN),
                Right(Operation.DESCRIBE_TOKENS, ResourceType.USER),
            ),
            Hidden.LEFT_OUT,
            "tokens of others",
        ),
    ),
    "DeleteGroups": (_one(_DELETE, _GROUP, "each group"),),
    "ElectLeaders": (_one(_ALTER, _CLUSTER),),
    "IncrementalAlterConfigs": (
        _one(_ALTER_CONFIGS, _TOPIC, "each topic"),
        _one(_ALTER_CONFIGS, _CLUSTER, _OF_CONFIGS),
    ),
    "AlterPartitionReassignments": (_one(_ALTER, _CLUSTER),),
    "ListPartitionReassignments": (_one(_DESCRIBE, _CLUSTER),),
    "OffsetDelete": (_one(_DELETE, _GROUP), _one(_READ, _TOPIC, "each topic")),
    "DescribeClientQuotas": (_one(_DESCRIBE_CONFIGS, _CLUSTER),),
    "AlterClientQuotas": (_one(_ALTER_CONFIGS, _CLUSTER),),
    "DescribeUserScramCredentials": (_one(_DESCRIBE, _CLUSTER),),
    "AlterUserScramCredentials": (_one(_ALTER, _CLUSTER),),
    "AlterPartition": _OF_BROKERS,
    "DescribeCluster": (
        _one(_DESCRIBE, _CLUSTER, "operations on the cluster", Hidden.NO_OPERATIONS),
    ),
    "DescribeProducers": (_one(_READ, _TOPIC, "each topic"),),
    "DescribeTransactions": (
        _one(_DESCRIBE, _TRANSACTION, "each transactional id"),
        _one(_DESCRIBE, _TOPIC, "each topic of a transaction", Hidden.LEFT_OUT),
    ),
    "ListTransactions": (_one(_DESCRIBE, _TRANSACTION, "each transactional id", Hidden.LEFT_OUT),),
    "AllocateProducerIds": _OF_BROKERS,
    "ConsumerGroupHeartbeat": _OF_MEMBERS,
    "ConsumerGroupDescribe": (_one(_DESCRIBE, _GROUP, "each group"),),
    "DescribeTopicPartitions": (
        _one(_DESCRIBE, _TOPIC, "each topic that is named"),
        _one(_DESCRIBE, _TOPIC, "each topic, where all are asked for", Hidden.LEFT_OUT),
    ),
}
"""By API; those that nobody needs a right for have an empty line."""


def table() -> list[str]:
    """The lines of a Markdown table."""
    lines = ["| API | right | of what | without it |", "|---|---|---|---|"]
    for api, requirements in REQUIREMENTS.items():
        for each in requirements:
            versions = each.versions
            name = api
            if versions != _ALL_VERSIONS:
                is_open = versions.stop == _ALL_VERSIONS.stop
                name += f" v{versions.start}" + ("+" if is_open else f"–{versions.stop - 1}")
            right = " or ".join(map(str, each.rights))
            lines.append(f"| {name} | {right} | {each.scope} | {_denial(each.denied)} |")
        if not requirements:
            lines.append(f"| {api} | none | | |")
    return lines


def _denial(denied: ErrorCode | Hidden) -> str:
    if isinstance(denied, Hidden):
        return denied.value
    return f"{denied.name} ({denied.value})"
