"""THE table: which APIs this broker serves, in which versions.

ApiVersions is answered from it, and dispatch finds its way by it. The handler of an
API is the module of its name in `broker/handlers`; it is loaded with the first request.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from moldau.protocol.apis import APIS, Api

_APIS = {api.name: api for api in APIS}

Handle = Callable[[Any, Any, Any], Coroutine[Any, Any, Any]]


_OF_BROKERS = frozenset(
    {
        *("LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown"),
        *("AlterPartition", "WriteTxnMarkers"),
    }
)
# Besides them, those who carry what clients made: records, subscriptions, assignments, the
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
        return import_module(self.api.module_name.replace("protocol.messages", "broker.handlers"))


ROUTES: tuple[Route, ...] = (
    Route("Produce", range(12)),
    Route("Fetch", range(18)),
    Route("ListOffsets", range(10)),
    Route("Metadata", range(13)),
    Route("LeaderAndIsr", range(8)),
    Route("StopReplica", range(5)),
    Route("UpdateMetadata", range(9)),
    Route("ControlledShutdown", range(4)),
    Route("OffsetCommit", range(10)),
    Route("OffsetFetch", range(10)),
    Route("FindCoordinator", range(7)),
    Route("JoinGroup", range(10)),
    Route("Heartbeat", range(5)),
    Route("LeaveGroup", range(6)),
    Route("SyncGroup", range(6)),
    Route("DescribeGroups", range(6)),
    Route("ListGroups", range(6)),
    Route("ApiVersions", range(5)),
    Route("CreateTopics", range(8)),
    Route("DeleteTopics", range(7)),
    Route("DeleteRecords", range(3)),
    Route("InitProducerId", range(6)),
    Route("OffsetForLeaderEpoch", range(5)),
    Route("AddPartitionsToTxn", range(6)),
    Route("AddOffsetsToTxn", range(5)),
    Route("EndTxn", range(5)),
    Route("WriteTxnMarkers", range(2)),
    Route("TxnOffsetCommit", range(5)),
    Route("DescribeAcls", range(4)),
    Route("CreateAcls", range(4)),
    Route("DeleteAcls", range(4)),
    Route("DescribeConfigs", range(5)),
    Route("AlterConfigs", range(3)),
    Route("AlterReplicaLogDirs", range(3)),
    Route("DescribeLogDirs", range(5)),
    Route("CreatePartitions", range(4)),
    Route("DeleteGroups", range(3)),
    Route("ElectLeaders", range(3)),
    Route("IncrementalAlterConfigs", range(2)),
    Route("AlterPartitionReassignments", range(1)),
    Route("ListPartitionReassignments", range(1)),
    Route("OffsetDelete", range(1)),
    Route("DescribeClientQuotas", range(2)),
    Route("AlterClientQuotas", range(2)),
    Route("AlterPartition", range(4)),
    Route("DescribeCluster", range(2)),
    Route("DescribeProducers", range(1)),
    Route("DescribeTransactions", range(1)),
    Route("ListTransactions", range(2)),
    Route("AllocateProducerIds", range(1)),
    Route("ConsumerGroupHeartbeat", range(2)),
    Route("ConsumerGroupDescribe", range(2)),
    Route("DescribeTopicPartitions", range(1)),
)
