"""More partitions for topics, as CreatePartitions asks for them."""

import logging
from collections.abc import Callable, Sequence

from moldau.broker.topics.creation import require_sensible_count
from moldau.broker.topics.tree import Replicas, Topics
from moldau.coordination.layout.topics import TopicAssignment
from moldau.coordination.tree import BadVersion
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsTopic,
)

_log = logging.getLogger(__name__)


class TopicGrowth:
    """Checks how a topic is to grow, and lets it."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics

    async def grow(
        self,
        wanted: CreatePartitionsTopic,
        *,
        take: Callable[[int], None] | None,
        cause: str = "",
    ) -> None:
        """Give a topic as many partitions as wanted; without leaders yet.

        `take` gets how many are added and may refuse that; without it all is only checked.
        `cause` is for the log.
        """
        is_taken = False
        if await self._topics.is_marked_for_deletion(wanted.name):
            message = "The topic is queued for deletion."
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
        while True:
            known, version = await self._topics.assignment(wanted.name)
            added = self._added(wanted, known)
            if take is None:
                return
            if not is_taken:
                take(len(added))
                is_taken = True
            try:
                await self._topics.add_partitions(wanted.name, known, added, version=version)
            except BadVersion:
                continue  # Another broker was quicker: it may have enough already.
            _log.info(
                "topic %s grows from %d to %d partitions%s",
                wanted.name,
                len(known.partitions),
                wanted.count,
                f", {cause}" if cause else "",
            )
            return

    def _added(self, wanted: CreatePartitionsTopic, known: TopicAssignment) -> Replicas:
        count = len(known.partitions)
        if any(one.adding or one.removing for one in known.partitions.values()):
            message = f"Topic {wanted.name} is being reassigned."
            raise KafkaError(ErrorCode.REASSIGNMENT_IN_PROGRESS, message)
        if wanted.count == count:
            message = f"Topic already has {count} partitions."
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, message)
        if wanted.count < count:
            message = (
                f"Topic currently has {count} partitions, which is higher than the requested "
                f"{wanted.count}."
            )
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, message)
        require_sensible_count(wanted.count)
        if wanted.assignments is not None:
            return self._assigned(wanted.assignments, wanted.count - count, known)
        return self._topics.place_more(wanted.count - count, known)

    def _assigned(
        self,
        assignments: Sequence[CreatePartitionsAssignment],
        added_count: int,
        known: TopicAssignment,
    ) -> Replicas:
        if len(assignments) != added_count:
            message = (
                f"Increasing the number of partitions by {added_count} "
                f"but {len(assignments)} assignments provided."
            )
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
        first = len(known.partitions)
        added = {
            first + index: tuple(assignment.broker_ids)
            for index, assignment in enumerate(assignments)
        }
        # The replication factor of a topic is that of its partition 0.
        self._topics.check_assignment({0: known.partitions[0].replicas, **added})
        return added
