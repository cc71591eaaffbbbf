"""The errors of the protocol as a page: `python -m moldau.client.error_reference`."""

import sys
from collections.abc import Iterator

from moldau.errors import ErrorCode, KafkaError

_INTRODUCTION = """\
# Errors

<!-- Written by `python -m moldau.client.error_reference`; change `moldau/advice.py`, not this. -->

Every error that Kafka has a code for is a `moldau.errors.KafkaError`, with a class of the code's
name. `error.code` is the code, `error.is_retriable` says whether the same request may succeed
later, `error.cause` what the error means, and `error.advice` what to check. A traceback shows the
advice below the error.

Producers, consumers and admin clients retry by themselves what can be retried. They raise such an
error only when `delivery.timeout.ms`, `request.timeout.ms` or `default.api.timeout.ms` is over.
Errors that are not about the protocol, such as a wrong address, are in
[clients](clients.md#when-something-is-wrong).
"""

_INTERNAL = """\
## Codes that applications do not get

Brokers send these to each other, or clients deal with them.

- Check: if a log repeats one of them, whether the brokers agree about the cluster. Compare their
  `broker.id`, `meta.properties` and `inter.broker.protocol.version`.
- See: [is it well?](operations.md#is-it-well), [log directories](log-directories.md).

| Code | Name | Cause |
| --: | --- | --- |
"""

# Page and heading -> what the link is called, and the errors that it says more about.
_SEE: dict[str, tuple[str, str]] = {
    "clients.md#write": (
        "producers",
        (
            "INVALID_REQUIRED_ACKS OUT_OF_ORDER_SEQUENCE_NUMBER UNKNOWN_PRODUCER_ID INVALID_RECORD"
            " REQUEST_TIMED_OUT UNSUPPORTED_COMPRESSION_TYPE CORRUPT_MESSAGE NOT_ENOUGH_REPLICAS"
            " NOT_ENOUGH_REPLICAS_AFTER_APPEND MESSAGE_TOO_LARGE"
        ),
    ),
    "clients.md#read": (
        "consumers",
        (
            "OFFSET_OUT_OF_RANGE INVALID_FETCH_SIZE OFFSET_METADATA_TOO_LARGE ILLEGAL_GENERATION"
            " INCONSISTENT_GROUP_PROTOCOL INVALID_GROUP_ID UNKNOWN_MEMBER_ID REBALANCE_IN_PROGRESS"
            " OFFSET_NOT_AVAILABLE FENCED_INSTANCE_ID UNSTABLE_OFFSET_COMMIT FENCED_MEMBER_EPOCH"
            " UNRELEASED_INSTANCE_ID STALE_MEMBER_EPOCH INVALID_REGULAR_EXPRESSION"
            " OFFSET_MOVED_TO_TIERED_STORAGE UNSUPPORTED_ASSIGNOR"
        ),
    ),
    "clients.md#transactions": (
        "transactions",
        (
            "INVALID_PRODUCER_EPOCH INVALID_TXN_STATE INVALID_PRODUCER_ID_MAPPING PRODUCER_FENCED"
            " INVALID_TRANSACTION_TIMEOUT CONCURRENT_TRANSACTIONS TRANSACTIONAL_ID_NOT_FOUND"
            " TRANSACTION_ABORTABLE UNSTABLE_OFFSET_COMMIT"
        ),
    ),
    "clients.md#administer": (
        "admin clients",
        (
            "UNKNOWN_TOPIC_OR_PARTITION TOPIC_ALREADY_EXISTS INVALID_TOPIC_EXCEPTION"
            " INVALID_PARTITIONS INVALID_REPLICATION_FACTOR INVALID_REPLICA_ASSIGNMENT"
            " INVALID_CONFIG INVALID_REQUEST"
            " OPERATION_NOT_ATTEMPTED NON_EMPTY_GROUP GROUP_ID_NOT_FOUND REASSIGNMENT_IN_PROGRESS"
            " NO_REASSIGNMENT_IN_PROGRESS ELECTION_NOT_NEEDED GROUP_SUBSCRIBED_TO_TOPIC"
            " RESOURCE_NOT_FOUND DUPLICATE_RESOURCE FEATURE_UPDATE_FAILED UNKNOWN_TOPIC_ID"
            " INCONSISTENT_TOPIC_ID UNACCEPTABLE_CREDENTIAL POLICY_VIOLATION"
        ),
    ),
    "clients.md#protected-clusters": (
        "protected clusters",
        (
            "UNSUPPORTED_SASL_MECHANISM ILLEGAL_SASL_STATE SASL_AUTHENTICATION_FAILED"
            " DELEGATION_TOKEN_NOT_FOUND DELEGATION_TOKEN_OWNER_MISMATCH DELEGATION_TOKEN_EXPIRED"
            " DELEGATION_TOKEN_REQUEST_NOT_ALLOWED INVALID_PRINCIPAL_TYPE"
        ),
    ),
    "clients.md#when-something-is-wrong": (
        "when something is wrong",
        "NETWORK_EXCEPTION UNSUPPORTED_VERSION REBOOTSTRAP_REQUIRED BROKER_NOT_AVAILABLE",
    ),
    "security.md#access-rules": (
        "access rules",
        (
            "TOPIC_AUTHORIZATION_FAILED GROUP_AUTHORIZATION_FAILED CLUSTER_AUTHORIZATION_FAILED"
            " TRANSACTIONAL_ID_AUTHORIZATION_FAILED DELEGATION_TOKEN_AUTHORIZATION_FAILED"
            " SECURITY_DISABLED UNKNOWN_TOPIC_OR_PARTITION"
        ),
    ),
    "security.md#logins": (
        "logins",
        "SASL_AUTHENTICATION_FAILED UNSUPPORTED_SASL_MECHANISM UNACCEPTABLE_CREDENTIAL",
    ),
    "security.md#quotas": ("quotas", "THROTTLING_QUOTA_EXCEEDED"),
    "operations.md#is-it-well": (
        "is it well?",
        (
            "UNKNOWN_SERVER_ERROR LEADER_NOT_AVAILABLE NOT_LEADER_OR_FOLLOWER REPLICA_NOT_AVAILABLE"
            " BROKER_NOT_AVAILABLE COORDINATOR_LOAD_IN_PROGRESS NOT_COORDINATOR NOT_CONTROLLER"
            " FENCED_LEADER_EPOCH UNKNOWN_LEADER_EPOCH"
        ),
    ),
    "operations.md#what-to-watch": (
        "what to watch",
        (
            "NOT_ENOUGH_REPLICAS NOT_ENOUGH_REPLICAS_AFTER_APPEND KAFKA_STORAGE_ERROR"
            " PREFERRED_LEADER_NOT_AVAILABLE ELIGIBLE_LEADERS_NOT_AVAILABLE LEADER_NOT_AVAILABLE"
        ),
    ),
    "operations.md#start-a-cluster": (
        "start a cluster",
        "COORDINATOR_NOT_AVAILABLE INVALID_REPLICATION_FACTOR LISTENER_NOT_FOUND",
    ),
    "configuration.md#topics": (
        "settings of topics",
        (
            "CORRUPT_MESSAGE MESSAGE_TOO_LARGE RECORD_LIST_TOO_LARGE INVALID_TIMESTAMP"
            " INVALID_CONFIG UNSUPPORTED_FOR_MESSAGE_FORMAT"
        ),
    ),
    "configuration.md#groups-and-offsets": (
        "settings of groups",
        (
            "INVALID_SESSION_TIMEOUT GROUP_MAX_SIZE_REACHED UNSUPPORTED_ASSIGNOR"
            " OFFSET_METADATA_TOO_LARGE"
        ),
    ),
    "configuration.md#transactions": (
        "settings of transactions",
        "INVALID_TRANSACTION_TIMEOUT INVALID_PRODUCER_ID_MAPPING",
    ),
    "configuration.md#logs": ("settings of logs", "KAFKA_STORAGE_ERROR LOG_DIR_NOT_FOUND"),
    "configuration.md#replication": ("settings of replication", "TOPIC_DELETION_DISABLED"),
    "configuration.md#authorization-and-secrets": (
        "settings of tokens",
        "DELEGATION_TOKEN_AUTH_DISABLED DELEGATION_TOKEN_EXPIRED",
    ),
    "configuration.md#tiered-storage": ("tiered storage", "OFFSET_MOVED_TO_TIERED_STORAGE"),
}


def reference() -> Iterator[str]:
    """The lines of the page."""
    yield from _INTRODUCTION.splitlines()
    yield ""
    internal = []
    for code in sorted(set(ErrorCode) - {ErrorCode.NONE}):
        error = KafkaError(code)
        if error.advice is None:
            internal.append(f"| {code.value} | `{code.name}` | {error.cause} |")
        else:
            yield from _section(error, error.advice)
    yield from _INTERNAL.splitlines()
    yield from internal


def links(code: ErrorCode) -> list[str]:
    """Where the documents say more about an error."""
    return [
        f"[{title}]({page})" for page, (title, names) in _SEE.items() if code.name in names.split()
    ]


def _section(error: KafkaError, advice: str) -> Iterator[str]:
    code = error.code
    retry = "retriable" if error.is_retriable else "not retriable"
    yield f"## {type(error).__name__}"
    yield ""
    yield f"`{code.name}`, {code.value}, {retry}."
    yield ""
    yield f"- Cause: {error.cause}."
    yield f"- Check: {advice}."
    yield f"- See: {', '.join(links(code))}."
    yield ""


def main() -> None:
    """Print the page."""
    sys.stdout.writelines(f"{line}\n" for line in reference())


if __name__ == "__main__":
    main()
