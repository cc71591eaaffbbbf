"""Wire error codes and the exceptions that carry one.

Which errors are worth another try, and which of those mean that the sender's
picture of the cluster is out of date, is what Kafka's own clients hold.
"""

from enum import IntEnum
from typing import ClassVar, Self

from moldau.advice import ADVICE, CAUSES


class ErrorCode(IntEnum):
    """Kafka's error numbers as they travel in responses."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    INVALID_FETCH_SIZE = 4
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    REPLICA_NOT_AVAILABLE = 9
    MESSAGE_TOO_LARGE = 10
    STALE_CONTROLLER_EPOCH = 11
    OFFSET_METADATA_TOO_LARGE = 12
    NETWORK_EXCEPTION = 13
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    INVALID_COMMIT_OFFSET_SIZE = 28
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    DUPLICATE_SEQUENCE_NUMBER = 46
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    CONCURRENT_TRANSACTIONS = 51
    TRANSACTION_COORDINATOR_FENCED = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    SECURITY_DISABLED = 54
    OPERATION_NOT_ATTEMPTED = 55
    KAFKA_STORAGE_ERROR = 56
    LOG_DIR_NOT_FOUND = 57
    SASL_AUTHENTICATION_FAILED = 58
    UNKNOWN_PRODUCER_ID = 59
    REASSIGNMENT_IN_PROGRESS = 60
    DELEGATION_TOKEN_AUTH_DISABLED = 61
    DELEGATION_TOKEN_NOT_FOUND = 62
    DELEGATION_TOKEN_OWNER_MISMATCH = 63
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65
    DELEGATION_TOKEN_EXPIRED = 66
    INVALID_PRINCIPAL_TYPE = 67
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    LISTENER_NOT_FOUND = 72
    TOPIC_DELETION_DISABLED = 73
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    UNSUPPORTED_COMPRESSION_TYPE = 76
    STALE_BROKER_EPOCH = 77
    OFFSET_NOT_AVAILABLE = 78
    MEMBER_ID_REQUIRED = 79
    PREFERRED_LEADER_NOT_AVAILABLE = 80
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    INVALID_RECORD = 87
    UNSTABLE_OFFSET_COMMIT = 88
    THROTTLING_QUOTA_EXCEEDED = 89
    PRODUCER_FENCED = 90
    RESOURCE_NOT_FOUND = 91
    DUPLICATE_RESOURCE = 92
    UNACCEPTABLE_CREDENTIAL = 93
    INCONSISTENT_VOTER_SET = 94
    INVALID_UPDATE_VERSION = 95
    FEATURE_UPDATE_FAILED = 96
    PRINCIPAL_DESERIALIZATION_FAILURE = 97
    SNAPSHOT_NOT_FOUND = 98
    POSITION_OUT_OF_RANGE = 99
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    INCONSISTENT_TOPIC_ID = 103
    INCONSISTENT_CLUSTER_ID = 104
    TRANSACTIONAL_ID_NOT_FOUND = 105
    FETCH_SESSION_TOPIC_ID_ERROR = 106
    INELIGIBLE_REPLICA = 107
    NEW_LEADER_ELECTED = 108
    OFFSET_MOVED_TO_TIERED_STORAGE = 109
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115
    UNKNOWN_CONTROLLER_ID = 116
    UNKNOWN_SUBSCRIPTION_ID = 117
    TELEMETRY_TOO_LARGE = 118
    INVALID_REGISTRATION = 119
    TRANSACTION_ABORTABLE = 120
    INVALID_RECORD_STATE = 121
    SHARE_SESSION_NOT_FOUND = 122
    INVALID_SHARE_SESSION_EPOCH = 123
    FENCED_STATE_EPOCH = 124
    INVALID_VOTER_KEY = 125
    DUPLICATE_VOTER = 126
    VOTER_NOT_FOUND = 127
    INVALID_REGULAR_EXPRESSION = 128
    REBOOTSTRAP_REQUIRED = 129

    @classmethod
    def _missing_(cls, value: object) -> "ErrorCode | None":
        # A newer peer may send codes that are not listed here; Kafka's clients read them so, too.
        return cls.UNKNOWN_SERVER_ERROR if isinstance(value, int) else None

    @property
    def is_retriable(self) -> bool:
        """Whether the same request may succeed later."""
        return error_for(self).is_retriable


class KafkaError(Exception):
    """A failure that the protocol has a code for.

    Codes are for raising, classes for catching: `KafkaError(ErrorCode.X, "why")`
    is an instance of the class that is named after X. A class defined elsewhere, with
    more to say, may carry any code.
    """

    code: ErrorCode
    is_retriable: ClassVar[bool] = False
    """Whether the same request may succeed later."""
    is_stale_metadata: ClassVar[bool] = False
    """Whether the sender should learn anew which broker to ask."""
    _notes: list[str] | None = None

    def __new__(cls, code: ErrorCode, *_: object) -> Self:
        wanted = error_for(code)
        if issubclass(wanted, cls):
            return super().__new__(wanted)
        assert cls.__module__ != __name__, f"{code.name} is raised as {wanted.__name__}"
        return super().__new__(cls)

    def __init__(self, code: ErrorCode, message: str = "") -> None:
        super().__init__(message or code.name)
        self.code = code

    def kept(self) -> Self:
        """The same, to be kept: without tracebacks, which would keep what it was caught in."""
        self.__cause__ = self.__context__ = None
        return self.with_traceback(None)

    @property
    def message(self) -> str | None:
        """What there is to say beside the code, for an answer that has a place for it."""
        text = str(self)
        return None if text == self.code.name else text

    @property
    def cause(self) -> str:
        """What an error of this code means, whatever its message says."""
        return CAUSES.get(self.code.name, self.code.name)

    @property
    def advice(self) -> str | None:
        """What to check; None for codes that applications do not get."""
        return ADVICE.get(self.code.name)

    @property
    def __notes__(self) -> list[str]:
        """What a traceback shows below the error; made when one is shown, not with each error."""
        if self._notes is None:
            self._notes = [] if self.advice is None else [f"Check: {self.advice}."]
        return self._notes

    @__notes__.setter
    def __notes__(self, notes: list[str]) -> None:
        self._notes = notes

    def __reduce__(self) -> tuple[type["KafkaError"], tuple[ErrorCode, str]]:
        return KafkaError, (self.code, str(self))


class ProtocolError(Exception):
    """Bytes that are not a valid message of the version they claim to be."""


def error_for(code: ErrorCode) -> type[KafkaError]:
    """The class of errors with this code; NONE, which is no error, has the base class."""
    return _CLASS_BY_CODE.get(code, KafkaError)


class RetriableError(KafkaError):
    """The same request may succeed later."""

    is_retriable: ClassVar[bool] = True


class StaleMetadataError(RetriableError):
    """The request may succeed later, and perhaps at another broker: ask for metadata first."""

    is_stale_metadata: ClassVar[bool] = True


class AuthorizationFailed(KafkaError):
    """The principal may not do this."""


class AuthenticationFailed(KafkaError):
    """The peer could not prove who it is."""


class UnknownServerError(KafkaError): ...


class OffsetOutOfRange(KafkaError): ...


class CorruptMessage(RetriableError): ...


class UnknownTopicOrPartition(StaleMetadataError): ...


class InvalidFetchSize(KafkaError): ...


class LeaderNotAvailable(StaleMetadataError): ...


class NotLeaderOrFollower(StaleMetadataError): ...


class RequestTimedOut(RetriableError): ...


class BrokerNotAvailable(KafkaError): ...


class ReplicaNotAvailable(StaleMetadataError): ...


class MessageTooLarge(KafkaError): ...


class StaleControllerEpoch(KafkaError): ...


class OffsetMetadataTooLarge(KafkaError): ...


class NetworkException(StaleMetadataError): ...


class CoordinatorLoadInProgress(RetriableError): ...


class CoordinatorNotAvailable(RetriableError): ...


class NotCoordinator(RetriableError): ...


class InvalidTopicException(KafkaError): ...


class RecordListTooLarge(KafkaError): ...


class NotEnoughReplicas(RetriableError): ...


class NotEnoughReplicasAfterAppend(RetriableError): ...


class InvalidRequiredAcks(KafkaError): ...


class IllegalGeneration(KafkaError): ...


class InconsistentGroupProtocol(KafkaError): ...


class InvalidGroupId(KafkaError): ...


class UnknownMemberId(KafkaError): ...


class InvalidSessionTimeout(KafkaError): ...


class RebalanceInProgress(KafkaError): ...


class InvalidCommitOffsetSize(KafkaError): ...


class TopicAuthorizationFailed(AuthorizationFailed): ...


class GroupAuthorizationFailed(AuthorizationFailed): ...


class ClusterAuthorizationFailed(AuthorizationFailed): ...


class InvalidTimestamp(KafkaError): ...


class UnsupportedSaslMechanism(AuthenticationFailed): ...


class IllegalSaslState(AuthenticationFailed): ...


class UnsupportedVersion(KafkaError): ...


class TopicAlreadyExists(KafkaError): ...


class InvalidPartitions(KafkaError): ...


class InvalidReplicationFactor(KafkaError): ...


class InvalidReplicaAssignment(KafkaError): ...


class InvalidConfig(KafkaError): ...


class NotController(RetriableError): ...


class InvalidRequest(KafkaError): ...


class UnsupportedForMessageFormat(KafkaError): ...


class PolicyViolation(KafkaError): ...


class OutOfOrderSequenceNumber(KafkaError): ...


class DuplicateSequenceNumber(KafkaError): ...


class InvalidProducerEpoch(KafkaError): ...


class InvalidTxnState(KafkaError): ...


class InvalidProducerIdMapping(KafkaError): ...


class InvalidTransactionTimeout(KafkaError): ...


class ConcurrentTransactions(RetriableError): ...


class TransactionCoordinatorFenced(KafkaError): ...


class TransactionalIdAuthorizationFailed(AuthorizationFailed): ...


class SecurityDisabled(KafkaError): ...


class OperationNotAttempted(KafkaError): ...


class KafkaStorageError(StaleMetadataError): ...


class LogDirNotFound(KafkaError): ...


class SaslAuthenticationFailed(AuthenticationFailed): ...


class UnknownProducerId(OutOfOrderSequenceNumber): ...


class ReassignmentInProgress(KafkaError): ...


class DelegationTokenAuthDisabled(KafkaError): ...


class DelegationTokenNotFound(KafkaError): ...


class DelegationTokenOwnerMismatch(KafkaError): ...


class DelegationTokenRequestNotAllowed(KafkaError): ...


class DelegationTokenAuthorizationFailed(AuthorizationFailed): ...


class DelegationTokenExpired(KafkaError): ...


class InvalidPrincipalType(KafkaError): ...


class NonEmptyGroup(KafkaError): ...


class GroupIdNotFound(KafkaError): ...


class FetchSessionIdNotFound(RetriableError): ...


class InvalidFetchSessionEpoch(RetriableError): ...


class ListenerNotFound(StaleMetadataError): ...


class TopicDeletionDisabled(KafkaError): ...


class FencedLeaderEpoch(StaleMetadataError): ...


class UnknownLeaderEpoch(RetriableError): ...


class UnsupportedCompressionType(KafkaError): ...


class StaleBrokerEpoch(KafkaError): ...


class OffsetNotAvailable(RetriableError): ...


class MemberIdRequired(KafkaError): ...


class PreferredLeaderNotAvailable(StaleMetadataError): ...


class GroupMaxSizeReached(KafkaError): ...


class FencedInstanceId(KafkaError): ...


class EligibleLeadersNotAvailable(StaleMetadataError): ...


class ElectionNotNeeded(StaleMetadataError): ...


class NoReassignmentInProgress(KafkaError): ...


class GroupSubscribedToTopic(KafkaError): ...


class InvalidRecord(KafkaError): ...


class UnstableOffsetCommit(RetriableError): ...


class ThrottlingQuotaExceeded(RetriableError): ...


class ProducerFenced(KafkaError): ...


class ResourceNotFound(KafkaError): ...


class DuplicateResource(KafkaError): ...


class UnacceptableCredential(KafkaError): ...


class InconsistentVoterSet(KafkaError): ...


class InvalidUpdateVersion(KafkaError): ...


class FeatureUpdateFailed(KafkaError): ...


class PrincipalDeserializationFailure(KafkaError): ...


class SnapshotNotFound(KafkaError): ...


class PositionOutOfRange(KafkaError): ...


class UnknownTopicId(StaleMetadataError): ...


class DuplicateBrokerRegistration(KafkaError): ...


class BrokerIdNotRegistered(KafkaError): ...


class InconsistentTopicId(StaleMetadataError): ...


class InconsistentClusterId(KafkaError): ...


class TransactionalIdNotFound(KafkaError): ...


class FetchSessionTopicIdError(RetriableError): ...


class IneligibleReplica(KafkaError): ...


class NewLeaderElected(KafkaError): ...


class OffsetMovedToTieredStorage(KafkaError): ...


class FencedMemberEpoch(KafkaError): ...


class UnreleasedInstanceId(KafkaError): ...


class UnsupportedAssignor(KafkaError): ...


class StaleMemberEpoch(KafkaError): ...


class MismatchedEndpointType(KafkaError): ...


class UnsupportedEndpointType(KafkaError): ...


class UnknownControllerId(KafkaError): ...


class UnknownSubscriptionId(KafkaError): ...


class TelemetryTooLarge(KafkaError): ...


class InvalidRegistration(KafkaError): ...


class TransactionAbortable(KafkaError): ...


class InvalidRecordState(KafkaError): ...


class ShareSessionNotFound(RetriableError): ...


class InvalidShareSessionEpoch(RetriableError): ...


class FencedStateEpoch(KafkaError): ...


class InvalidVoterKey(KafkaError): ...


class DuplicateVoter(KafkaError): ...


class VoterNotFound(KafkaError): ...


class InvalidRegularExpression(KafkaError): ...


class RebootstrapRequired(KafkaError): ...


_CLASS_BY_CODE: dict[ErrorCode, type[KafkaError]] = {
    code: globals()[code.name.title().replace("_", "")] for code in ErrorCode if code
}
