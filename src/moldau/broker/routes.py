"""THE table: which APIs this broker serves, in which versions.

ApiVersions is answered from it, and dispatch finds its way by it. A handler is the module of
its API's name in `broker/handlers`; it is loaded with the first request, hence the lambdas.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from moldau.broker import handlers
from moldau.protocol.apis import APIS, Api

_APIS = {api.name: api for api in APIS}

Handle = Callable[[Any, Any, Any], Coroutine[Any, Any, Any]]


_OF_BROKERS = frozenset(
    {
        *("LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown"),
        *("AlterPartition", "WriteTxnMarkers"),
    }
)
# Besides them, those that carry what clients made: records, subscriptions, assignments, the
# metadata of commits. Fetch and OffsetForLeaderEpoch are of followers, too.
_LARGE = _OF_BROKERS | {
    *("Produce", "Fetch", "OffsetForLeaderEpoch", "JoinGroup", "SyncGroup"),
    *("OffsetCommit", "TxnOffsetCommit"),
}


@dataclass(frozen=True, slots=True)
class Route:
    """One API, as far as it is served."""

    name: str
    versions: range
    load: Callable[[], ModuleType]

    @property
    def is_of_brokers(self) -> bool:
        """Whether brokers alone have reason to ask."""
        return self.name in _OF_BROKERS

    @property
    def is_large(self) -> bool:
        """Whether requests have more to carry than a list of names."""
        return self.name in _LARGE

    @property
    def api(self) -> Api:
        """Its key, messages and encodings."""
        return _APIS[self.name]

    @property
    def handler(self) -> ModuleType:
        """The module that answers it: `handle`, and `refuse` where an error has no one place."""
        return self.load()


ROUTES: tuple[Route, ...] = (
    Route("Produce", range(12), lambda: handlers.produce),
    Route("Fetch", range(18), lambda: handlers.fetch),
    Route("ListOffsets", range(10), lambda: handlers.list_offsets),
    Route("Metadata", range(13), lambda: handlers.metadata),
    Route("LeaderAndIsr", range(8), lambda: handlers.leader_and_isr),
    Route("StopReplica", range(5), lambda: handlers.stop_replica),
    Route("UpdateMetadata", range(9), lambda: handlers.update_metadata),
    Route("ControlledShutdown", range(4), lambda: handlers.controlled_shutdown),
    Route("OffsetCommit", range(10), lambda: handlers.offset_commit),
    Route("OffsetFetch", range(10), lambda: handlers.offset_fetch),
    Route("FindCoordinator", range(7), lambda: handlers.find_coordinator),
    Route("JoinGroup", range(10), lambda: handlers.join_group),
    Route("Heartbeat", range(5), lambda: handlers.heartbeat),
    Route("LeaveGroup", range(6), lambda: handlers.leave_group),
    Route("SyncGroup", range(6), lambda: handlers.sync_group),
    Route("DescribeGroups", range(6), lambda: handlers.describe_groups),
    Route("ListGroups", range(6), lambda: handlers.list_groups),
    Route("SaslHandshake", range(2), lambda: handlers.sasl_handshake),
    Route("ApiVersions", range(5), lambda: handlers.api_versions),
    Route("CreateTopics", range(8), lambda: handlers.create_topics),
    Route("DeleteTopics", range(7), lambda: handlers.delete_topics),
    Route("DeleteRecords", range(3), lambda: handlers.delete_records),
    Route("InitProducerId", range(6), lambda: handlers.init_producer_id),
    Route("OffsetForLeaderEpoch", range(5), lambda: handlers.offset_for_leader_epoch),
    Route("AddPartitionsToTxn", range(6), lambda: handlers.add_partitions_to_txn),
    Route("AddOffsetsToTxn", range(5), lambda: handlers.add_offsets_to_txn),
    Route("EndTxn", range(5), lambda: handlers.end_txn),
    Route("WriteTxnMarkers", range(2), lambda: handlers.write_txn_markers),
    Route("TxnOffsetCommit", range(5), lambda: handlers.txn_offset_commit),
    Route("DescribeAcls", range(4), lambda: handlers.describe_acls),
    Route("CreateAcls", range(4), lambda: handlers.create_acls),
    Route("DeleteAcls", range(4), lambda: handlers.delete_acls),
    Route("DescribeConfigs", range(5), lambda: handlers.describe_configs),
    Route("AlterConfigs", range(3), lambda: handlers.alter_configs),
    Route("AlterReplicaLogDirs", range(3), lambda: handlers.alter_replica_log_dirs),
    Route("DescribeLogDirs", range(5), lambda: handlers.describe_log_dirs),
    Route("SaslAuthenticate", range(3), lambda: handlers.sasl_authenticate),
    Route("CreatePartitions", range(4), lambda: handlers.create_partitions),
    Route("CreateDelegationToken", range(4), lambda: handlers.create_delegation_token),
    Route("RenewDelegationToken", range(3), lambda: handlers.renew_delegation_token),
    Route("ExpireDelegationToken", range(3), lambda: handlers.expire_delegation_token),
    Route("DescribeDelegationToken", range(4), lambda: handlers.describe_delegation_token),
    Route("DeleteGroups", range(3), lambda: handlers.delete_groups),
    Route("ElectLeaders", range(3), lambda: handlers.elect_leaders),
    Route("IncrementalAlterConfigs", range(2), lambda: handlers.incremental_alter_configs),
    Route("AlterPartitionReassignments", range(1), lambda: handlers.alter_partition_reassignments),
    Route("ListPartitionReassignments", range(1), lambda: handlers.list_partition_reassignments),
    Route("OffsetDelete", range(1), lambda: handlers.offset_delete),
    Route("DescribeClientQuotas", range(2), lambda: handlers.describe_client_quotas),
    Route("AlterClientQuotas", range(2), lambda: handlers.alter_client_quotas),
    Route(
        "DescribeUserScramCredentials", range(1), lambda: handlers.describe_user_scram_credentials
    ),
    Route("AlterUserScramCredentials", range(1), lambda: handlers.alter_user_scram_credentials),
    Route("AlterPartition", range(4), lambda: handlers.alter_partition),
    Route("DescribeCluster", range(2), lambda: handlers.describe_cluster),
    Route("DescribeProducers", range(1), lambda: handlers.describe_producers),
    Route("DescribeTransactions", range(1), lambda: handlers.describe_transactions),
    Route("ListTransactions", range(2), lambda: handlers.list_transactions),
    Route("AllocateProducerIds", range(1), lambda: handlers.allocate_producer_ids),
    Route("ConsumerGroupHeartbeat", range(2), lambda: handlers.consumer_group_heartbeat),
    Route("ConsumerGroupDescribe", range(2), lambda: handlers.consumer_group_describe),
    Route("DescribeTopicPartitions", range(1), lambda: handlers.describe_topic_partitions),
)
