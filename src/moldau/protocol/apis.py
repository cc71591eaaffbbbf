"""The table of APIs: keys, names, versions, and where their messages are declared.

It repeats what the declarations say (a test holds the two together), so that
headers can be read and ApiVersions answered without loading any message.
"""

import re
from functools import cache
from importlib import import_module
from typing import NamedTuple


class Api(NamedTuple):
    """One API. Its messages are loaded when they are first asked for."""

    key: int
    name: str
    versions: range
    flexible_from: int | None

    @property
    def request(self) -> type:
        """The class of its requests."""
        return _class(self, "Request")

    @property
    def response(self) -> type:
        """The class of its responses."""
        return _class(self, "Response")

    @property
    def module_name(self) -> str:
        """The module of its messages: the name in snake case."""
        words = re.sub("(?!^)([A-Z])", r"_\1", self.name).lower()
        return f"moldau.protocol.messages.{words}"

    def is_flexible(self, version: int) -> bool:
        """Whether this version has compact lengths and tagged fields (KIP-482)."""
        return self.flexible_from is not None and version >= self.flexible_from


APIS = (
    Api(0, "Produce", range(12), 9),
    Api(1, "Fetch", range(18), 12),
    Api(2, "ListOffsets", range(10), 6),
    Api(3, "Metadata", range(13), 9),
    Api(4, "LeaderAndIsr", range(8), 4),
    Api(5, "StopReplica", range(5), 2),
    Api(6, "UpdateMetadata", range(9), 6),
    Api(7, "ControlledShutdown", range(4), 3),
    Api(8, "OffsetCommit", range(10), 8),
    Api(9, "OffsetFetch", range(10), 6),
    Api(10, "FindCoordinator", range(7), 3),
    Api(11, "JoinGroup", range(10), 6),
    Api(12, "Heartbeat", range(5), 4),
    Api(13, "LeaveGroup", range(6), 4),
    Api(14, "SyncGroup", range(6), 4),
    Api(15, "DescribeGroups", range(6), 5),
    Api(16, "ListGroups", range(6), 3),
    Api(17, "SaslHandshake", range(2), None),
    Api(18, "ApiVersions", range(5), 3),
    Api(19, "CreateTopics", range(8), 5),
    Api(20, "DeleteTopics", range(7), 4),
    Api(21, "DeleteRecords", range(3), 2),
    Api(22, "InitProducerId", range(6), 2),
    Api(23, "OffsetForLeaderEpoch", range(5), 4),
    Api(24, "AddPartitionsToTxn", range(6), 3),
    Api(25, "AddOffsetsToTxn", range(5), 3),
    Api(26, "EndTxn", range(5), 3),
    Api(27, "WriteTxnMarkers", range(2), 1),
    Api(28, "TxnOffsetCommit", range(5), 3),
    Api(29, "DescribeAcls", range(4), 2),
    Api(30, "CreateAcls", range(4), 2),
    Api(31, "DeleteAcls", range(4), 2),
    Api(32, "DescribeConfigs", range(5), 4),
    Api(33, "AlterConfigs", range(3), 2),
    Api(34, "AlterReplicaLogDirs", range(3), 2),
    Api(35, "DescribeLogDirs", range(5), 2),
    Api(36, "SaslAuthenticate", range(3), 2),
    Api(37, "CreatePartitions", range(4), 2),
    Api(38, "CreateDelegationToken", range(4), 2),
    Api(39, "RenewDelegationToken", range(3), 2),
    Api(40, "ExpireDelegationToken", range(3), 2),
    Api(41, "DescribeDelegationToken", range(4), 2),
    Api(42, "DeleteGroups", range(3), 2),
    Api(43, "ElectLeaders", range(3), 2),
    Api(44, "IncrementalAlterConfigs", range(2), 1),
    Api(45, "AlterPartitionReassignments", range(1), 0),
    Api(46, "ListPartitionReassignments", range(1), 0),
    Api(47, "OffsetDelete", range(1), None),
    Api(48, "DescribeClientQuotas", range(2), 1),
    Api(49, "AlterClientQuotas", range(2), 1),
    Api(50, "DescribeUserScramCredentials", range(1), 0),
    Api(51, "AlterUserScramCredentials", range(1), 0),
    Api(56, "AlterPartition", range(4), 0),
    Api(57, "UpdateFeatures", range(2), 0),
    Api(58, "Envelope", range(1), 0),
    Api(60, "DescribeCluster", range(2), 0),
    Api(61, "DescribeProducers", range(1), 0),
    Api(65, "DescribeTransactions", range(1), 0),
    Api(66, "ListTransactions", range(2), 0),
    Api(67, "AllocateProducerIds", range(1), 0),
    Api(68, "ConsumerGroupHeartbeat", range(2), 0),
    Api(69, "ConsumerGroupDescribe", range(2), 0),
    Api(75, "DescribeTopicPartitions", range(1), 0),
)

API_BY_KEY = {api.key: api for api in APIS}


@cache
def _class(api: Api, kind: str) -> type:
    found: type = getattr(import_module(api.module_name), f"{api.name}{kind}")
    return found
