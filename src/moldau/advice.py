"""What to check when an error is met, by the name of its code; for those that users meet."""

_CREDENTIALS = "user, password, sasl.mechanism and the login of the broker's listener"
_CLUSTER_SETTLES = "nothing, if it passes: the cluster is changing; else whether brokers are down"
_GROUP_SETTLES = "nothing, if it passes: members come and go; else max.poll.interval.ms"
_GONE_FROM_GROUP = (
    "whether the work on what one poll returns takes longer than max.poll.interval.ms, or the"
    " process stood still for session.timeout.ms: the partitions are another member's by now"
)
_TWO_PRODUCERS = "whether two producers use the same transactional.id; only a new producer goes on"
_TOKENS = "the token's owner and renewers, and that the login was not by a token itself"
_LEADERS = "which brokers are alive, and the topic's replicas: admin.describe_topics"

ADVICE: dict[str, str] = {
    "UNKNOWN_SERVER_ERROR": "the log of the broker: it failed in a way that has no code",
    "OFFSET_OUT_OF_RANGE": (
        "whether retention deleted what was to be read; auto.offset.reset says where to go on"
    ),
    "CORRUPT_MESSAGE": (
        "the network and the broker's disk; with a compacted topic, that keys are set"
    ),
    "UNKNOWN_TOPIC_OR_PARTITION": (
        "the name of the topic and the number of the partition; whether it was deleted; whether"
        " brokers make topics by themselves (auto.create.topics.enable)"
    ),
    "INVALID_FETCH_SIZE": "fetch.max.bytes and max.partition.fetch.bytes",
    "LEADER_NOT_AVAILABLE": _LEADERS,
    "NOT_LEADER_OR_FOLLOWER": _CLUSTER_SETTLES,
    "REQUEST_TIMED_OUT": (
        "the load of the brokers, the network, request.timeout.ms and delivery.timeout.ms; a"
        " request that timed out may have been done all the same"
    ),
    "BROKER_NOT_AVAILABLE": "whether the broker is up",
    "REPLICA_NOT_AVAILABLE": _CLUSTER_SETTLES,
    "MESSAGE_TOO_LARGE": (
        "max.message.bytes of the topic, message.max.bytes of the broker, and max.request.size and"
        " batch.size of the producer"
    ),
    "OFFSET_METADATA_TOO_LARGE": (
        "the text beside the offset; offset.metadata.max.bytes of the broker"
    ),
    "NETWORK_EXCEPTION": (
        "bootstrap.servers, advertised.listeners of the brokers, firewalls, and whether"
        " security.protocol is that of the port"
    ),
    "COORDINATOR_LOAD_IN_PROGRESS": "nothing, if it passes: the coordinator is starting",
    "COORDINATOR_NOT_AVAILABLE": (
        "whether __consumer_offsets or __transaction_state can be made: enough brokers for"
        " offsets.topic.replication.factor or transaction.state.log.replication.factor"
    ),
    "NOT_COORDINATOR": _CLUSTER_SETTLES,
    "INVALID_TOPIC_EXCEPTION": (
        "the name: letters, digits, dots, underscores and hyphens, at most 249; internal topics"
        " cannot be written to"
    ),
    "RECORD_LIST_TOO_LARGE": "segment.bytes of the topic against batch.size of the producer",
    "NOT_ENOUGH_REPLICAS": (
        "how many replicas are in sync, against min.insync.replicas of the topic"
    ),
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": (
        "how many replicas are in sync, against min.insync.replicas; the record is stored, and may"
        " be there twice after another try without idempotence"
    ),
    "INVALID_REQUIRED_ACKS": "acks: all, 1 or 0",
    "ILLEGAL_GENERATION": _GONE_FROM_GROUP,
    "INCONSISTENT_GROUP_PROTOCOL": (
        "that all members of the group have a common partition.assignment.strategy, and that no"
        " other kind of client uses this group.id"
    ),
    "INVALID_GROUP_ID": "group.id: it must be set for what was asked",
    "UNKNOWN_MEMBER_ID": _GONE_FROM_GROUP,
    "INVALID_SESSION_TIMEOUT": (
        "session.timeout.ms against group.min.session.timeout.ms and group.max.session.timeout.ms"
        " of the broker"
    ),
    "REBALANCE_IN_PROGRESS": _GROUP_SETTLES,
    "TOPIC_AUTHORIZATION_FAILED": "the ACLs of the topic for this user: admin.describe_acls",
    "GROUP_AUTHORIZATION_FAILED": "the ACLs of the group for this user: READ, DESCRIBE or DELETE",
    "CLUSTER_AUTHORIZATION_FAILED": "the ACLs of the cluster for this user",
    "INVALID_TIMESTAMP": (
        "the time of the record against message.timestamp.before.max.ms and"
        " message.timestamp.after.max.ms of the topic; that it is in milliseconds"
    ),
    "UNSUPPORTED_SASL_MECHANISM": "sasl.mechanism against sasl.enabled.mechanisms of the listener",
    "ILLEGAL_SASL_STATE": "security.protocol: whether the port wants SASL",
    "UNSUPPORTED_VERSION": "the version of the broker: it does not know this yet, or no more",
    "TOPIC_ALREADY_EXISTS": "nothing, if the topic is as wanted",
    "INVALID_PARTITIONS": "the number of partitions: 1 or more, and never fewer than before",
    "INVALID_REPLICATION_FACTOR": "the number of brokers alive: at least the replication factor",
    "INVALID_REPLICA_ASSIGNMENT": "that the brokers of each partition exist, each named once",
    "INVALID_CONFIG": "the name and the value of the setting",
    "NOT_CONTROLLER": _CLUSTER_SETTLES,
    "INVALID_REQUEST": "what was asked, against the version of the broker; the message says more",
    "UNSUPPORTED_FOR_MESSAGE_FORMAT": "log.message.format.version of the topic: too old for this",
    "POLICY_VIOLATION": "the policies for topics and settings that the brokers have",
    "OUT_OF_ORDER_SEQUENCE_NUMBER": "whether records were lost by an unclean election",
    "INVALID_PRODUCER_EPOCH": _TWO_PRODUCERS,
    "INVALID_TXN_STATE": "the order of begin, send, commit and abort",
    "INVALID_PRODUCER_ID_MAPPING": "transactional.id.expiration.ms: the producer was idle so long",
    "INVALID_TRANSACTION_TIMEOUT": (
        "transaction.timeout.ms against transaction.max.timeout.ms of the broker"
    ),
    "CONCURRENT_TRANSACTIONS": "nothing, if it passes: the last transaction is being completed",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": "the ACLs of the transactional.id: WRITE, DESCRIBE",
    "SECURITY_DISABLED": "authorizer.class.name of the brokers: without one there are no ACLs",
    "OPERATION_NOT_ATTEMPTED": "the errors of what else was in the request",
    "KAFKA_STORAGE_ERROR": "the disk of the broker, and its log",
    "LOG_DIR_NOT_FOUND": "log.dirs of the broker",
    "SASL_AUTHENTICATION_FAILED": _CREDENTIALS,
    "UNKNOWN_PRODUCER_ID": "retention of the topic: all records of the producer were deleted",
    "REASSIGNMENT_IN_PROGRESS": "admin.list_partition_reassignments: wait for it, or cancel it",
    "DELEGATION_TOKEN_AUTH_DISABLED": "delegation.token.secret.key of the brokers",
    "DELEGATION_TOKEN_NOT_FOUND": "whether the token was expired or removed",
    "DELEGATION_TOKEN_OWNER_MISMATCH": _TOKENS,
    "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED": (
        "security.protocol: tokens are made and renewed over SASL or SSL with a certificate, and"
        " not by a token itself"
    ),
    "DELEGATION_TOKEN_AUTHORIZATION_FAILED": _TOKENS,
    "DELEGATION_TOKEN_EXPIRED": "delegation.token.expiry.time.ms: renew it in time",
    "INVALID_PRINCIPAL_TYPE": "that renewers are users: User:name",
    "NON_EMPTY_GROUP": "that all members have left: admin.describe_groups",
    "GROUP_ID_NOT_FOUND": "the name of the group: admin.list_groups",
    "LISTENER_NOT_FOUND": "that all brokers have the listener that the client uses",
    "TOPIC_DELETION_DISABLED": "delete.topic.enable of the brokers",
    "FENCED_LEADER_EPOCH": _CLUSTER_SETTLES,
    "UNKNOWN_LEADER_EPOCH": _CLUSTER_SETTLES,
    "UNSUPPORTED_COMPRESSION_TYPE": "compression.type: zstd needs brokers from 2.1 on",
    "OFFSET_NOT_AVAILABLE": _CLUSTER_SETTLES,
    "PREFERRED_LEADER_NOT_AVAILABLE": "whether the first replica is alive and in sync",
    "GROUP_MAX_SIZE_REACHED": "group.max.size of the broker",
    "FENCED_INSTANCE_ID": "whether two members have the same group.instance.id",
    "ELIGIBLE_LEADERS_NOT_AVAILABLE": _LEADERS,
    "ELECTION_NOT_NEEDED": "nothing: the leader is the right one already",
    "NO_REASSIGNMENT_IN_PROGRESS": "admin.list_partition_reassignments: it may be done already",
    "GROUP_SUBSCRIBED_TO_TOPIC": "that no member of the group reads the topic any more",
    "INVALID_RECORD": "that records of compacted topics have keys; the broker's message says more",
    "UNSTABLE_OFFSET_COMMIT": "nothing, if it passes: a transaction with these offsets is open",
    "THROTTLING_QUOTA_EXCEEDED": (
        "controller_mutation_rate of this user: admin.describe_client_quotas"
    ),
    "PRODUCER_FENCED": _TWO_PRODUCERS,
    "RESOURCE_NOT_FOUND": "the name of the user, or of what else was asked for",
    "DUPLICATE_RESOURCE": "that each thing is named once",
    "UNACCEPTABLE_CREDENTIAL": "the name of the user, and iterations from 4096 to 16384",
    "FEATURE_UPDATE_FAILED": "the levels that all brokers know: admin.describe_features",
    "UNKNOWN_TOPIC_ID": "whether the topic was deleted and made again",
    "INCONSISTENT_TOPIC_ID": "whether the topic was deleted and made again",
    "TRANSACTIONAL_ID_NOT_FOUND": "the transactional.id: admin.list_transactions",
    "OFFSET_MOVED_TO_TIERED_STORAGE": "auto.offset.reset: what was to be read is elsewhere",
    "FENCED_MEMBER_EPOCH": _GONE_FROM_GROUP,
    "UNRELEASED_INSTANCE_ID": "whether two members have the same group.instance.id",
    "UNSUPPORTED_ASSIGNOR": "group.remote.assignor against group.consumer.assignors of the broker",
    "STALE_MEMBER_EPOCH": _GROUP_SETTLES,
    "TRANSACTION_ABORTABLE": "the error that came before: abort, and try the transaction again",
    "INVALID_REGULAR_EXPRESSION": "the pattern: the broker reads it as RE2 does",
    "REBOOTSTRAP_REQUIRED": "bootstrap.servers: the cluster that was known is gone",
}
