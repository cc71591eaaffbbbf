"""Why brokers reject what a producer sends."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from moldau.advice import ADVICE
from moldau.console.why.diagnosis import Diagnosis, LikelyCause, MendingRequest, command, some
from moldau.console.why.partitions import missing
from moldau.security.acls import (
    EVERYONE,
    PRODUCER_NEEDS,
    WILDCARD,
    Acl,
    Operation,
    Permission,
    ResourceType,
)

if TYPE_CHECKING:
    from moldau.client.admin.topics import TopicDescription

ERRORS = (
    *("UNKNOWN_TOPIC_OR_PARTITION", "NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
    *("MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD", "INVALID_TIMESTAMP"),
    *("TOPIC_AUTHORIZATION_FAILED", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
    *("CLUSTER_AUTHORIZATION_FAILED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"),
    *("OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID", "REQUEST_TIMED_OUT"),
    *("LEADER_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER", "KAFKA_STORAGE_ERROR"),
    *("UNSUPPORTED_COMPRESSION_TYPE", "INVALID_TOPIC_EXCEPTION", "CORRUPT_MESSAGE"),
    "POLICY_VIOLATION",
)
_TOO_LARGE = ("MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE")
_MAX_BYTES = "max.message.bytes"


@dataclass(frozen=True, slots=True)
class ProduceFacts:
    """What is known of a topic that does not take records."""

    name: str
    servers: str
    error: str = ""
    """What the producer was answered, if that is known."""
    principal: str = ""
    topic: "TopicDescription | None" = None
    """None: it is not there."""
    configs: Mapping[str, str | None] = field(default_factory=dict)
    acls: Collection[Acl] | None = None
    """Rules about the topic; None if they are not known, or there is no authorizer."""


def why_produce(state: ProduceFacts) -> Diagnosis:
    """Causes that can be seen, and else what the error stands for."""
    if state.topic is None:
        return Diagnosis([f"There is no topic {state.name}"], [_no_topic(state)])
    partitions = state.topic.partitions
    leaderless = [each for each in partitions if each.leader < 0]
    known = [
        f"{state.name} has {len(partitions)} partitions, {len(leaderless)} of them without leader",
        *(
            f"{name} is {state.configs[name]}"
            for name in ("min.insync.replicas", _MAX_BYTES, "cleanup.policy", "compression.type")
            if state.configs.get(name) is not None
        ),
    ]
    causes = [*_replicas(state), *_size(state), *_keys(state), *_rules(state)]
    if state.error in ADVICE and not any(each.is_certain for each in causes):
        advice = f"Check {ADVICE[state.error]}."
        causes.append(LikelyCause(f"{state.error} was answered", advice))
    return Diagnosis(known, causes)


def _no_topic(state: ProduceFacts) -> LikelyCause:
    return LikelyCause(
        "The name is wrong, or the topic was deleted, or brokers do not make topics by themselves",
        "Create it, if the name is right. These credentials may also be too few to see it.",
        is_certain=True,
        command=command(
            *("moldau", "topics", "--create", "--topic", state.name),
            *("--bootstrap-server", state.servers),
        ),
        remedy=MendingRequest(
            "Create the topic", "POST", ("topics",), "admin", {"name": state.name}
        ),
    )


def _replicas(state: ProduceFacts) -> Iterable[LikelyCause]:
    assert state.topic is not None, "looked at before"
    name = state.topic.name
    offline = [f"{name}-{each.partition}" for each in state.topic.partitions if each.leader < 0]
    if offline:
        yield LikelyCause(
            f"No leader for {some(offline)}",
            "All brokers with their replicas are down.",
            is_certain=True,
            page=("why", "partitions"),
        )
    text = state.configs.get("min.insync.replicas") or "1"
    minimum = int(text) if text.isdecimal() else 1
    few = [each for each in state.topic.partitions if each.leader >= 0 and len(each.isr) < minimum]
    if few:
        behind = sorted({broker for each in few for broker in missing(each)})
        yield LikelyCause(
            f"{len(few)} partitions have fewer than {minimum} replicas in sync for acks=all",
            f"Start or mend broker {', '.join(map(str, behind))}. "
            if behind
            else f"The topic has fewer than {minimum} replicas at all: add some, or lower it.",
            is_certain=True,
            page=("why", "partitions"),
        )


def _size(state: ProduceFacts) -> Iterable[LikelyCause]:
    if state.error not in _TOO_LARGE:
        return
    limit = state.configs.get(_MAX_BYTES) or ""
    if not limit.isdecimal():
        return
    wanted = str(int(limit) * 2)
    yield LikelyCause(
        f"A batch is larger than {limit} bytes, which is {_MAX_BYTES} of the topic",
        "Compress (compression.type), or raise it. Consumers and followers take larger batches "
        "as they come; max.request.size of the producer has to be as large.",
        command=command(
            *("moldau", "configs", "--alter", "--entity-type", "topics"),
            *("--entity-name", state.name, "--add-config", f"{_MAX_BYTES}={wanted}"),
            *("--bootstrap-server", state.servers),
        ),
        remedy=MendingRequest(
            f"Set {_MAX_BYTES} to {wanted}",
            "PATCH",
            ("topics", state.name, "configs"),
            "admin",
            {"configs": {_MAX_BYTES: wanted}},
        ),
    )


def _keys(state: ProduceFacts) -> Iterable[LikelyCause]:
    if "compact" in (state.configs.get("cleanup.policy") or "") and state.error in (
        "",
        "INVALID_RECORD",
        "CORRUPT_MESSAGE",
    ):
        yield LikelyCause(
            "The topic is compacted: records without a key are refused",
            "Give each record a key; compaction keeps the last one of each.",
            is_certain=state.error == "INVALID_RECORD",
        )


def _rules(state: ProduceFacts) -> Iterable[LikelyCause]:
    if state.acls is None or not state.principal:
        return
    denied = _about(state.acls, state.principal, Permission.DENY)
    if denied:
        yield LikelyCause(
            f"A rule denies {state.principal} to write",
            "It wins over every rule that allows.",
            is_certain=True,
            page=("access", "rules"),
        )
    elif not _about(state.acls, state.principal, Permission.ALLOW):
        yield LikelyCause(
            f"No rule allows {state.principal} to write; super users need none",
            "Add what a producer needs.",
            is_certain=state.error == "TOPIC_AUTHORIZATION_FAILED",
            command=command(
                *("moldau", "acls", "--add", "--producer", "--topic", state.name),
                *("--allow-principal", state.principal, "--bootstrap-server", state.servers),
            ),
            remedy=MendingRequest(
                "Add these rules", "POST", ("acls",), "admin", {"acls": _needed(state)}
            ),
        )


def _about(acls: Iterable[Acl], principal: str, permission: Permission) -> Sequence[Acl]:
    return [
        each
        for each in acls
        if each.permission is permission
        and each.principal in (principal, EVERYONE)
        and each.operation in (Operation.WRITE, Operation.ALL)
    ]


def _needed(state: ProduceFacts) -> list[dict[str, str]]:
    return [
        {
            "type": "topic",
            "name": state.name,
            "pattern": "literal",
            "principal": state.principal,
            "host": WILDCARD,
            "operation": each.name.lower(),
            "permission": "allow",
        }
        for each in PRODUCER_NEEDS[ResourceType.TOPIC]
    ]
