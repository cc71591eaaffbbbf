"""Replicas of partitions: moved between brokers, and leaders elected among them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from moldau.client.admin.area import AdminArea, by_topic, values_by_topic
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.places import AtController
from moldau.client.admin.routing import Answers, failure, outcome
from moldau.model import TopicPartition
from moldau.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from moldau.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from moldau.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)


class ElectionType(IntEnum):
    """The leader to elect: the first replica, or, losing records if need be, any that is there."""

    PREFERRED = 0
    UNCLEAN = 1


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A move that is under way."""

    replicas: list[int]
    adding: list[int]
    removing: list[int]


class ReassignmentsArea(AdminArea):
    """The part of the Admin client for moves of replicas and for elections."""

    async def alter_partition_reassignments(
        self, replicas: Mapping[TopicPartition, Sequence[int] | None]
    ) -> Outcomes[TopicPartition, None]:
        """Begin to move partitions to these brokers; None cancels a move."""
        router = self._router

        async def ask(node_id: int, keys: list[TopicPartition]) -> Answers[TopicPartition, None]:
            wanted = values_by_topic({key: replicas[key] for key in keys})
            request = AlterPartitionReassignmentsRequest(
                timeout_ms=router.settings.request_timeout_ms,
                topics=[
                    ReassignableTopic(
                        name=topic,
                        partitions=[
                            ReassignablePartition(
                                partition_index=index,
                                replicas=None if brokers is None else list(brokers),
                            )
                            for index, brokers in partitions
                        ],
                    )
                    for topic, partitions in wanted.items()
                ],
            )
            response = AlterPartitionReassignmentsResponse
            answer = await router.cluster.ask(node_id, request, response)
            if answer.error_code:
                return dict.fromkeys(keys, failure(answer.error_code, answer.error_message))
            return {
                TopicPartition(topic.name, each.partition_index): outcome(
                    each.error_code, None, each.error_message
                )
                for topic in answer.responses
                for each in topic.partitions
            }

        return await router.each(replicas, AtController[TopicPartition](router.cluster), ask)

    async def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None
    ) -> dict[TopicPartition, Reassignment]:
        """The moves that are under way, of these partitions or of all."""
        router = self._router
        topics = None
        if partitions is not None:
            topics = [
                ListPartitionReassignmentsTopics(name=topic, partition_indexes=indexes)
                for topic, indexes in by_topic(partitions).items()
            ]
        request = ListPartitionReassignmentsRequest(
            timeout_ms=router.settings.request_timeout_ms, topics=topics
        )
        answer = await router.controller(request, ListPartitionReassignmentsResponse)
        return {
            TopicPartition(topic.name, each.partition_index): Reassignment(
                each.replicas, each.adding_replicas, each.removing_replicas
            )
            for topic in answer.topics
            for each in topic.partitions
        }

    async def elect_leaders(
        self,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        election_type: ElectionType = ElectionType.PREFERRED,
    ) -> Outcomes[TopicPartition, None]:
        """Elect leaders of these partitions, or of all; ElectionNotNeeded is an outcome too."""
        router = self._router
        topics = None
        if partitions is not None:
            topics = [
                TopicPartitions(topic=topic, partitions=indexes)
                for topic, indexes in by_topic(partitions).items()
            ]
        request = ElectLeadersRequest(
            election_type=election_type,
            topic_partitions=topics,
            timeout_ms=router.settings.request_timeout_ms,
        )
        answer = await router.controller(request, ElectLeadersResponse)
        return Outcomes(
            {
                TopicPartition(topic.topic, each.partition_id): outcome(
                    each.error_code, None, each.error_message
                )
                for topic in answer.replica_election_results
                for each in topic.partition_result
            }
        )
