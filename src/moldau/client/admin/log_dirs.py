"""Directories of brokers, and the replicas in them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from moldau.client.admin.area import AdminArea, by_topic
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.places import Places
from moldau.client.admin.routing import Answers, failure, outcome
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from moldau.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)


class Replica(NamedTuple):
    """A partition on one broker."""

    broker: int
    partition: TopicPartition


@dataclass(frozen=True, slots=True)
class StoredReplica:
    """A replica in a directory; a future one is still being copied there."""

    size_bytes: int
    offset_lag: int
    is_future: bool


@dataclass(frozen=True, slots=True)
class LogDir:
    """A directory; sizes are -1 where old brokers do not say."""

    path: str
    error: KafkaError | None
    replicas: dict[TopicPartition, StoredReplica]
    total_bytes: int
    usable_bytes: int


class LogDirsArea(AdminArea):
    """The part of the Admin client for directories."""

    async def describe_log_dirs(
        self,
        brokers: Iterable[int] | None = None,
        *,
        partitions: Iterable[TopicPartition] | None = None,
    ) -> Outcomes[int, dict[str, LogDir]]:
        """The directories of these brokers, or of all, by their paths."""
        router = self._router
        topics = None
        if partitions is not None:
            topics = [
                DescribableLogDirTopic(topic=topic, partitions=indexes)
                for topic, indexes in by_topic(partitions).items()
            ]
        request = DescribeLogDirsRequest(topics=topics)

        async def ask(node_id: int, keys: list[int]) -> Answers[int, dict[str, LogDir]]:
            answer = await router.cluster.ask(node_id, request, DescribeLogDirsResponse)
            found = {each.log_dir: _directory(each) for each in answer.results}
            return dict.fromkeys(keys, outcome(answer.error_code, found))

        wanted = await router.all_brokers() if brokers is None else brokers
        return await router.each(wanted, router.brokers, ask)

    async def alter_replica_log_dirs(self, paths: Mapping[Replica, str]) -> Outcomes[Replica, None]:
        """Move replicas to other directories of their brokers; copying goes on afterwards."""
        router = self._router

        async def ask(node_id: int, keys: list[Replica]) -> Answers[Replica, None]:
            by_path: dict[str, list[TopicPartition]] = {}
            for replica in keys:
                by_path.setdefault(paths[replica], []).append(replica.partition)
            request = AlterReplicaLogDirsRequest(
                dirs=[_moves(path, partitions) for path, partitions in by_path.items()]
            )
            answer = await router.cluster.ask(node_id, request, AlterReplicaLogDirsResponse)
            return {
                Replica(node_id, TopicPartition(topic.topic_name, each.partition_index)): outcome(
                    each.error_code, None
                )
                for topic in answer.results
                for each in topic.partitions
            }

        return await router.each(paths, _AtReplica(), ask)


class _AtReplica(Places[Replica]):
    """The broker that has the replica."""

    async def find(self, key: Replica) -> int:
        return key.broker


def _directory(found: DescribeLogDirsResult) -> LogDir:
    return LogDir(
        found.log_dir,
        failure(found.error_code) if found.error_code else None,
        {
            TopicPartition(topic.name, each.partition_index): StoredReplica(
                each.partition_size, each.offset_lag, each.is_future_key
            )
            for topic in found.topics
            for each in topic.partitions
        },
        found.total_bytes,
        found.usable_bytes,
    )


def _moves(path: str, partitions: list[TopicPartition]) -> AlterReplicaLogDir:
    return AlterReplicaLogDir(
        path=path,
        topics=[
            AlterReplicaLogDirTopic(name=topic, partitions=indexes)
            for topic, indexes in by_topic(partitions).items()
        ],
    )
