"""What the driver asks the cluster: partitions, and where they begin and end."""

import logging
import re
from types import TracebackType
from typing import Self

from moldau.client.group.committed import CommittedOffsets
from moldau.client.group.coordinator import Coordinator
from moldau.client.group.membership import Membership
from moldau.client.offset_lookup import OffsetLookup
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.metadata import MetadataRequest, MetadataResponse
from moldau.spark.link import Link
from moldau.spark.offsets import COMMITTED, EARLIEST, LATEST, Offsets
from moldau.spark.options import Bound, SourceOptions

_log = logging.getLogger(__name__)


class SourceCluster:
    """Answers about the topics of a source, each time from the brokers."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._link = Link(options.client)
        is_committed_only = self._link.settings.isolation_level == "read_committed"
        self._lookup = OffsetLookup(self._link.cluster, is_committed_only=is_committed_only)
        self._group: CommittedOffsets | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._link.close()

    def partitions(self) -> list[TopicPartition]:
        """All that is there now, by one request; KafkaError if a topic of this name is not."""
        found = self.partitions_found()
        missing = sorted({*self._options.topics.names} - {each.topic for each in found})
        if missing:
            reason = f"there is no topic {missing[0]!r}: create it first, or correct the name"
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
        return found

    def partitions_found(self) -> list[TopicPartition]:
        """As `partitions`, without those topics that are not there (any more)."""
        topics, cluster = self._options.topics, self._link.cluster
        if topics.partitions:
            return list(topics.partitions)
        names = topics.names
        if topics.pattern is not None:
            matches = re.compile(topics.pattern).fullmatch
            self._link.wait(cluster.connect())
            answer = self._link.wait(
                cluster.ask_any(MetadataRequest(topics=None), MetadataResponse)
            )
            cluster.metadata.update(answer, now_ms=cluster.clock.monotonic_ms())
            names = tuple(each.name for each in answer.topics if each.name and matches(each.name))
        else:
            self._link.wait(cluster.connect(names))
        return sorted(
            TopicPartition(name, number)
            for name in names
            for number in cluster.metadata.partitions_of(name)
        )

    def offsets(self, partitions: list[TopicPartition], bound: Bound) -> Offsets:
        """The offsets that a bound means, for partitions that it does not name as well."""
        timestamps = dict(bound.timestamps)
        if bound.timestamp is not None:
            timestamps = dict.fromkeys(partitions, bound.timestamp)
        wanted = dict.fromkeys(partitions, bound.otherwise) | dict(bound.offsets)
        unknown = sorted({*timestamps, *dict(bound.offsets)} - {*partitions})
        if unknown:
            raise ValueError(f"offsets are given for {unknown[0]}, which is not read")
        found = self.offsets_at(timestamps)
        late = sorted(each for each, offset in found.items() if offset == LATEST)
        if late and bound.is_strict:
            raise ValueError(
                f"{late[0]} has no record at {timestamps[late[0]]} or later; with "
                "startingOffsetsByTimestampStrategy=latest it is read from its end"
            )
        return self._resolved(wanted | found)

    def offsets_at(self, timestamps: dict[TopicPartition, int]) -> Offsets:
        """The first offsets at or after these times; LATEST where nothing is so late."""
        if not timestamps:
            return {}
        found = self._link.wait(self._lookup.find(timestamps))
        return {each: LATEST if at.offset < 0 else at.offset for each, at in found.items()}

    def first_offsets(self, partitions: list[TopicPartition]) -> Offsets:
        """Where the partitions begin."""
        return self._resolved(dict.fromkeys(partitions, EARLIEST))

    def last_offsets(self, partitions: list[TopicPartition]) -> Offsets:
        """Where the partitions end."""
        return self._resolved(dict.fromkeys(partitions, LATEST))

    def try_commit(self, offsets: Offsets) -> None:
        """Commit to the group how far the query is; a query does not need that, so it goes on."""
        try:
            self.commit(offsets)
        except KafkaError as error:
            _log.warning("Failed to commit offsets to group %s: %s", self._options.group, error)

    def commit(self, offsets: Offsets) -> None:
        """Commit how far the query is to its group, or KafkaError."""
        self._link.wait(self._committed().commit(offsets))

    def _committed(self) -> CommittedOffsets:
        if self._group is None:
            assert self._options.group is not None, "options are checked for that"
            coordinator = Coordinator(self._link.cluster, self._options.group)
            membership = Membership(self._options.group, {})
            self._group = CommittedOffsets(coordinator, membership, None)
        return self._group

    def _where_group_is(self, partitions: list[TopicPartition]) -> Offsets:
        """What the group has committed; the beginning where that is nothing, or not there."""
        self._link.wait(self._link.cluster.connect())
        found = self._link.wait(self._committed().fetch(partitions))
        first, last = self.first_offsets([*found]), self.last_offsets([*found])
        return {
            each: found[each]
            if each in found and first[each] <= found[each] <= last[each]
            else EARLIEST
            for each in partitions
        }

    def _resolved(self, wanted: Offsets) -> Offsets:
        of_group = [each for each, offset in wanted.items() if offset == COMMITTED]
        if of_group:
            wanted = wanted | self._where_group_is(of_group)
        ends = {each: offset for each, offset in wanted.items() if offset in (EARLIEST, LATEST)}
        if not ends:
            return wanted
        found = self._link.wait(self._lookup.find(ends))
        return wanted | {each: at.offset for each, at in found.items()}
