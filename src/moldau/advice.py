"""What each error of the protocol means and what to check, by the name of its code.

`CAUSES` has every code. `ADVICE` has those that applications can get.
"""

_CREDENTIALS = "user, password, sasl.mechanism and the login of the broker's listener"
_CLUSTER_SETTLES = "whether brokers are down, if it stays; while leaders change it is normal"
_GROUP_SETTLES = "max.poll.interval.ms, if it stays; while members join and leave it is normal"
_GONE_FROM_GROUP = (
    "whether the work on what one poll returns takes longer than max.poll.interval.ms, or the"
    " process stood still for session.timeout.ms: other members have its partitions now"
)
_TWO_PRODUCERS = "whether two producers use the same transactional.id; then make a new producer"
_TOKENS = "the token's owner and renewers, and that the login was not by a token itself"
_LEADERS = "which brokers are alive, and the topic's replicas: admin.describe_topics"

CAUSES: dict[str, str] = {
    "UNKNOWN_SERVER_ERROR": "the broker failed in a way that has no code of its own",
    "OFFSET_OUT_OF_RANGE": (
        "the offset is below the first or above the last one that the partition has"
    ),
    "CORRUPT_MESSAGE": (
        "a batch does not match its checksum or its format, or a record of a compacted topic "
        "has no key"
    ),
    "UNKNOWN_TOPIC_OR_PARTITION": (
        "the broker does not know the topic or has no such partition; users without rights get "
        "this, too"
    ),
    "INVALID_FETCH_SIZE": "a fetch asked for a size that is not allowed",
    "LEADER_NOT_AVAILABLE": (
        "the partition has no leader at the moment: it is being elected, or all replicas are down"
    ),
    "NOT_LEADER_OR_FOLLOWER": (
        "the request went to a broker that does not lead the partition any more"
    ),
    "REQUEST_TIMED_OUT": "the brokers did not finish within the time that the request allows",
    "BROKER_NOT_AVAILABLE": "the broker that the request names is not part of the cluster now",
    "REPLICA_NOT_AVAILABLE": "the broker has no replica of the partition, or has not opened it yet",
    "MESSAGE_TOO_LARGE": "a batch is larger than the topic or the broker allows",
    "STALE_CONTROLLER_EPOCH": "a former controller sent a request after another one was elected",
    "OFFSET_METADATA_TOO_LARGE": "the text that was committed beside an offset is too long",
    "NETWORK_EXCEPTION": "the connection failed or was closed before the response was complete",
    "COORDINATOR_LOAD_IN_PROGRESS": (
        "the coordinator is still reading its state from its internal topic"
    ),
    "COORDINATOR_NOT_AVAILABLE": (
        "the partition of the internal topic that the coordinator needs has no leader, or "
        "cannot be created"
    ),
    "NOT_COORDINATOR": "another broker has become coordinator of this group or transactional.id",
    "INVALID_TOPIC_EXCEPTION": "the name is not allowed for a topic, or the topic is internal",
    "RECORD_LIST_TOO_LARGE": "a batch is larger than one segment of the log",
    "NOT_ENOUGH_REPLICAS": (
        "fewer replicas are in sync than min.insync.replicas; the record was not stored"
    ),
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": (
        "replicas fell out of sync after the leader had stored the record"
    ),
    "INVALID_REQUIRED_ACKS": "a produce request had an acks value other than -1, 0 and 1",
    "ILLEGAL_GENERATION": "the member acts for a generation of the group that is over",
    "INCONSISTENT_GROUP_PROTOCOL": (
        "the member and the group have no assignment strategy in common, or are of different kinds"
    ),
    "INVALID_GROUP_ID": "the group's id is empty or not allowed",
    "UNKNOWN_MEMBER_ID": "the group has removed this member, or never had it",
    "INVALID_SESSION_TIMEOUT": "the session timeout is outside the range that the broker allows",
    "REBALANCE_IN_PROGRESS": (
        "the group is assigning partitions anew, and the member has to join again"
    ),
    "INVALID_COMMIT_OFFSET_SIZE": "a commit of offsets is larger than one batch may be",
    "TOPIC_AUTHORIZATION_FAILED": "the user has no right to do this with the topic",
    "GROUP_AUTHORIZATION_FAILED": "the user has no right to do this with the group",
    "CLUSTER_AUTHORIZATION_FAILED": "the user has no right to do this with the cluster",
    "INVALID_TIMESTAMP": "the timestamp of a record is too far from the clock of the broker",
    "UNSUPPORTED_SASL_MECHANISM": "the listener does not offer the SASL mechanism of the client",
    "ILLEGAL_SASL_STATE": "a login was sent where none is expected, or a request before the login",
    "UNSUPPORTED_VERSION": (
        "the broker does not support this version of the request, or a feature in it"
    ),
    "TOPIC_ALREADY_EXISTS": "there is a topic of this name",
    "INVALID_PARTITIONS": "the number of partitions is below 1, or not above the present number",
    "INVALID_REPLICATION_FACTOR": (
        "the replication factor is below 1 or above the number of brokers that are up"
    ),
    "INVALID_REPLICA_ASSIGNMENT": "the given replicas name unknown brokers, or one broker twice",
    "INVALID_CONFIG": "a setting has an unknown name or a value that is not allowed",
    "NOT_CONTROLLER": "the request needs the controller and went to another broker",
    "INVALID_REQUEST": "the request contradicts itself, or a field has a value that is not allowed",
    "UNSUPPORTED_FOR_MESSAGE_FORMAT": (
        "the topic keeps an old message format that does not have this feature"
    ),
    "POLICY_VIOLATION": "a policy of the brokers forbids this topic or these settings",
    "OUT_OF_ORDER_SEQUENCE_NUMBER": "the broker expected another batch of this producer next",
    "DUPLICATE_SEQUENCE_NUMBER": "the broker has this batch of the producer already",
    "INVALID_PRODUCER_EPOCH": "a newer producer with the same transactional.id has taken over",
    "INVALID_TXN_STATE": "the step does not fit the state of the transaction",
    "INVALID_PRODUCER_ID_MAPPING": "the transactional.id belongs to another producer id now",
    "INVALID_TRANSACTION_TIMEOUT": "the transaction timeout is longer than the broker allows",
    "CONCURRENT_TRANSACTIONS": (
        "the previous transaction of this transactional.id is not complete yet"
    ),
    "TRANSACTION_COORDINATOR_FENCED": (
        "a former transaction coordinator wrote markers after another took over"
    ),
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": "the user has no right to this transactional.id",
    "SECURITY_DISABLED": "the brokers have no authorizer",
    "OPERATION_NOT_ATTEMPTED": (
        "another part of the same request failed, so this part was not tried"
    ),
    "KAFKA_STORAGE_ERROR": "the broker could not read or write the disk that holds the partition",
    "LOG_DIR_NOT_FOUND": "the broker has no such log directory",
    "SASL_AUTHENTICATION_FAILED": "the broker refused the login",
    "UNKNOWN_PRODUCER_ID": "the broker has no record of this producer left",
    "REASSIGNMENT_IN_PROGRESS": "the replicas of the partition are being moved already",
    "DELEGATION_TOKEN_AUTH_DISABLED": "the brokers have no secret key for delegation tokens",
    "DELEGATION_TOKEN_NOT_FOUND": "the brokers do not know the delegation token",
    "DELEGATION_TOKEN_OWNER_MISMATCH": "the user is neither owner nor renewer of the token",
    "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED": "the connection may not manage delegation tokens",
    "DELEGATION_TOKEN_AUTHORIZATION_FAILED": "the user has no right to this delegation token",
    "DELEGATION_TOKEN_EXPIRED": "the delegation token was not renewed in time",
    "INVALID_PRINCIPAL_TYPE": "a principal is of a kind that is not supported here",
    "NON_EMPTY_GROUP": "the group has members",
    "GROUP_ID_NOT_FOUND": "there is no such group",
    "FETCH_SESSION_ID_NOT_FOUND": (
        "the broker has dropped the fetch session; the client opens another"
    ),
    "INVALID_FETCH_SESSION_EPOCH": (
        "requests of a fetch session arrived out of order; the client opens another"
    ),
    "LISTENER_NOT_FOUND": "the leader has no listener of the name that the client came by",
    "TOPIC_DELETION_DISABLED": "the brokers do not allow topics to be deleted",
    "FENCED_LEADER_EPOCH": "the client knows an older leader of the partition than the broker",
    "UNKNOWN_LEADER_EPOCH": "the client knows a newer leader of the partition than the broker",
    "UNSUPPORTED_COMPRESSION_TYPE": "the version of the request does not allow this compression",
    "STALE_BROKER_EPOCH": "a request was meant for the broker as it was before its restart",
    "OFFSET_NOT_AVAILABLE": "a new leader does not know yet how far the partition is committed",
    "MEMBER_ID_REQUIRED": "the group gives the member an id, with which it joins again",
    "PREFERRED_LEADER_NOT_AVAILABLE": "the first replica cannot be elected now",
    "GROUP_MAX_SIZE_REACHED": "the group has as many members as the broker allows",
    "FENCED_INSTANCE_ID": "another member with the same group.instance.id has taken over",
    "ELIGIBLE_LEADERS_NOT_AVAILABLE": "no replica that may lead is up",
    "ELECTION_NOT_NEEDED": "the partition has the wanted leader",
    "NO_REASSIGNMENT_IN_PROGRESS": "no replicas of the partition are being moved",
    "GROUP_SUBSCRIBED_TO_TOPIC": "members of the group are subscribed to the topic",
    "INVALID_RECORD": "the broker refused a record in the batch",
    "UNSTABLE_OFFSET_COMMIT": "the committed offsets depend on a transaction that is still open",
    "THROTTLING_QUOTA_EXCEEDED": (
        "the user has created or deleted partitions faster than the quota allows"
    ),
    "PRODUCER_FENCED": "a newer producer with the same transactional.id has taken over",
    "RESOURCE_NOT_FOUND": "what the request names does not exist",
    "DUPLICATE_RESOURCE": "the request names one thing twice",
    "UNACCEPTABLE_CREDENTIAL": (
        "the new password does not fit: an empty name, or iterations out of range"
    ),
    "INCONSISTENT_VOTER_SET": "KRaft: controllers disagree about who votes",
    "INVALID_UPDATE_VERSION": (
        "the version of a state that was to be written is not the expected one"
    ),
    "FEATURE_UPDATE_FAILED": "the level of a feature could not be changed",
    "PRINCIPAL_DESERIALIZATION_FAILURE": (
        "KRaft: a forwarded request carries a principal that cannot be read"
    ),
    "SNAPSHOT_NOT_FOUND": "KRaft: the controller does not have this snapshot",
    "POSITION_OUT_OF_RANGE": "KRaft: a position lies outside the snapshot",
    "UNKNOWN_TOPIC_ID": "the broker does not know a topic with this id",
    "DUPLICATE_BROKER_REGISTRATION": "KRaft: two brokers have the same id",
    "BROKER_ID_NOT_REGISTERED": "KRaft: the broker is not registered at the controller",
    "INCONSISTENT_TOPIC_ID": "the log of the partition belongs to a topic with another id",
    "INCONSISTENT_CLUSTER_ID": "the request comes from a member of another cluster",
    "TRANSACTIONAL_ID_NOT_FOUND": "there is no such transactional.id",
    "FETCH_SESSION_TOPIC_ID_ERROR": (
        "a fetch session mixes topic ids and names; the client opens another"
    ),
    "INELIGIBLE_REPLICA": "a replica that may not join was to be added to the in-sync set",
    "NEW_LEADER_ELECTED": "the change of the in-sync set elected another leader",
    "OFFSET_MOVED_TO_TIERED_STORAGE": "the records are in tiered storage only",
    "FENCED_MEMBER_EPOCH": "the group has removed this member, or given its partitions away",
    "UNRELEASED_INSTANCE_ID": "the member that has this group.instance.id has not left yet",
    "UNSUPPORTED_ASSIGNOR": "the broker does not have the assignor that the member asks for",
    "STALE_MEMBER_EPOCH": (
        "the member acts for an older state of the group than the coordinator has"
    ),
    "MISMATCHED_ENDPOINT_TYPE": (
        "the request was meant for a controller and went to a broker, or the reverse"
    ),
    "UNSUPPORTED_ENDPOINT_TYPE": "this kind of endpoint does not support the request",
    "UNKNOWN_CONTROLLER_ID": "KRaft: there is no controller with this id",
    "UNKNOWN_SUBSCRIPTION_ID": (
        "the client sent metrics for a subscription that has changed; it asks anew"
    ),
    "TELEMETRY_TOO_LARGE": "the metrics that a client sent are larger than the broker allows",
    "INVALID_REGISTRATION": "KRaft: the controller refused the registration of a broker",
    "TRANSACTION_ABORTABLE": (
        "a step of the transaction failed; it can be aborted, and the producer goes on"
    ),
    "INVALID_RECORD_STATE": (
        "share groups: the record is in another state than the acknowledgement says"
    ),
    "SHARE_SESSION_NOT_FOUND": (
        "share groups: the broker has dropped the session; the client opens another"
    ),
    "INVALID_SHARE_SESSION_EPOCH": "share groups: requests of a session arrived out of order",
    "FENCED_STATE_EPOCH": "share groups: a former leader wrote the state of a partition",
    "INVALID_VOTER_KEY": "KRaft: the voter's key does not belong to this controller",
    "DUPLICATE_VOTER": "KRaft: the voter is in the set already",
    "VOTER_NOT_FOUND": "KRaft: the voter is not in the set",
    "INVALID_REGULAR_EXPRESSION": (
        "the pattern of the subscription is not a regular expression that the broker reads"
    ),
    "REBOOTSTRAP_REQUIRED": (
        "the brokers that the client knew are gone, or the metadata is too old to go on"
    ),
}

ADVICE: dict[str, str] = {
    "UNKNOWN_SERVER_ERROR": "the log of the broker at the time of the error",
    "OFFSET_OUT_OF_RANGE": (
        "whether retention deleted what was to be read; auto.offset.reset says where to go on"
    ),
    "CORRUPT_MESSAGE": (
        "the network and the broker's disk; with a compacted topic, that keys are set"
    ),
    "UNKNOWN_TOPIC_OR_PARTITION": (
        "the name of the topic and the number of the partition; whether it was deleted; whether"
        " brokers create topics by themselves (auto.create.topics.enable)"
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
    "COORDINATOR_LOAD_IN_PROGRESS": (
        "the log of that broker, if it stays; after a start or a change of leaders it is normal"
    ),
    "COORDINATOR_NOT_AVAILABLE": (
        "whether __consumer_offsets or __transaction_state can be created: enough brokers for"
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
    "UNSUPPORTED_VERSION": (
        "the version of the broker: it may be too old for this, or have removed it"
    ),
    "TOPIC_ALREADY_EXISTS": "whether the topic has the settings that you want",
    "INVALID_PARTITIONS": "the number of partitions: 1 or more, and never fewer than before",
    "INVALID_REPLICATION_FACTOR": "the number of brokers alive: at least the replication factor",
    "INVALID_REPLICA_ASSIGNMENT": "that the brokers of each partition exist, each named once",
    "INVALID_CONFIG": "the name and the value of the setting",
    "NOT_CONTROLLER": _CLUSTER_SETTLES,
    "INVALID_REQUEST": "the message of the error, and the version of the broker",
    "UNSUPPORTED_FOR_MESSAGE_FORMAT": "log.message.format.version of the topic: too old for this",
    "POLICY_VIOLATION": "the policies for topics and settings that the brokers have",
    "OUT_OF_ORDER_SEQUENCE_NUMBER": "whether records were lost by an unclean election",
    "INVALID_PRODUCER_EPOCH": _TWO_PRODUCERS,
    "INVALID_TXN_STATE": "the order of begin, send, commit and abort",
    "INVALID_PRODUCER_ID_MAPPING": (
        "transactional.id.expiration.ms: whether the producer was idle for longer"
    ),
    "INVALID_TRANSACTION_TIMEOUT": (
        "transaction.timeout.ms against transaction.max.timeout.ms of the broker"
    ),
    "CONCURRENT_TRANSACTIONS": (
        "the log of the coordinator, if it stays; for a moment after a commit it is normal"
    ),
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
        "security.protocol: tokens are created and renewed over SASL or SSL with a certificate, and"
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
    "ELECTION_NOT_NEEDED": "nothing: the leader is the wanted one already",
    "NO_REASSIGNMENT_IN_PROGRESS": "admin.list_partition_reassignments: it may be complete",
    "GROUP_SUBSCRIBED_TO_TOPIC": "that no member of the group reads the topic any more",
    "INVALID_RECORD": "that records of compacted topics have keys; the broker's message says more",
    "UNSTABLE_OFFSET_COMMIT": "for transactions that are never ended: admin.list_transactions",
    "THROTTLING_QUOTA_EXCEEDED": (
        "controller_mutation_rate of this user: admin.describe_client_quotas"
    ),
    "PRODUCER_FENCED": _TWO_PRODUCERS,
    "RESOURCE_NOT_FOUND": "the name of the user, or of what else was asked for",
    "DUPLICATE_RESOURCE": "that each thing is named once",
    "UNACCEPTABLE_CREDENTIAL": "the name of the user, and iterations from 4096 to 16384",
    "FEATURE_UPDATE_FAILED": "the levels that all brokers know: admin.describe_features",
    "UNKNOWN_TOPIC_ID": "whether the topic was deleted and created again",
    "INCONSISTENT_TOPIC_ID": "whether the topic was deleted and created again",
    "TRANSACTIONAL_ID_NOT_FOUND": "the transactional.id: admin.list_transactions",
    "OFFSET_MOVED_TO_TIERED_STORAGE": "auto.offset.reset: it says where reading goes on",
    "FENCED_MEMBER_EPOCH": _GONE_FROM_GROUP,
    "UNRELEASED_INSTANCE_ID": "whether two members have the same group.instance.id",
    "UNSUPPORTED_ASSIGNOR": "group.remote.assignor against group.consumer.assignors of the broker",
    "STALE_MEMBER_EPOCH": _GROUP_SETTLES,
    "TRANSACTION_ABORTABLE": "the error that came before: abort, and try the transaction again",
    "INVALID_REGULAR_EXPRESSION": "the pattern: brokers take the syntax of RE2",
    "REBOOTSTRAP_REQUIRED": "bootstrap.servers: whether brokers of the cluster are there",
}
