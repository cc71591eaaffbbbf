"""How far groups of the source are, as offsets of the target, by MirrorMaker's names (KIP-545).

Checkpoints are records that other programs translate offsets with. With
`sync.group.offsets.enabled` groups that nobody uses at the target get the offsets themselves.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import ClassVar

from moldau.client.admin.group_offsets import CommittedOffset
from moldau.client.blocking.admin import Admin
from moldau.connect.config.values import flag, number
from moldau.connect.connector import (
    HomeCluster,
    Offset,
    Source,
    SourceBatch,
    SourcePartition,
)
from moldau.connect.connectors.mirror import clusters
from moldau.connect.connectors.mirror.filters import GROUPS_EXCLUDE, NameFilter
from moldau.connect.connectors.mirror.layouts import Checkpoint
from moldau.connect.connectors.mirror.policy import ReplicationPolicy
from moldau.connect.connectors.mirror.positions import OFFSET
from moldau.connect.connectors.mirror.source import BYTES, CONVERTERS, failing
from moldau.connect.connectors.mirror.sync_reader import SyncReader
from moldau.connect.connectors.mirror.syncs import SyncTopic
from moldau.connect.connectors.mirror.target_groups import TargetGroups
from moldau.connect.connectors.mirror.topics import TopicChoice, make_compacted
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import BYTES as BYTES_SCHEMA
from moldau.connect.errors import ConnectError
from moldau.errors import KafkaError
from moldau.model import TopicPartition

_log = logging.getLogger(__name__)

GROUP = "group"
_INTERVALS = ("emit.checkpoints", "sync.group.offsets")


class MirrorCheckpoints(Source):
    """All groups are one partition: their offsets are looked up together."""

    prefixes = (*clusters.PREFIXES, "topics.")
    defaults: ClassVar[Mapping[str, str]] = dict.fromkeys(CONVERTERS, BYTES)

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._policy = ReplicationPolicy.of(config)
        self._groups = NameFilter.of(config, "groups", GROUPS_EXCLUDE)
        # Without a list of topics of its own it translates whatever has offset syncs.
        self._topics = TopicChoice(config, self._policy)
        self._syncs = SyncTopic.of(config, self._policy)
        self._client = clusters.source_admin(config)
        self._factor = number(config, "checkpoints.topic.replication.factor", 3)
        self._emits, self._sets = (
            flag(config, f"{_INTERVALS[0]}.enabled", default=True),
            flag(config, f"{_INTERVALS[1]}.enabled", default=False),
        )
        self._is_enabled = flag(config, "enabled", default=True)
        self.poll_interval_s = min(number(config, f"{e}.interval.seconds", 60) for e in _INTERVALS)
        self._home: HomeCluster | None = None
        self._opened = ExitStack()
        self._admins: tuple[Admin, TargetGroups] | None = None
        self._reader: SyncReader | None = None
        self._emitted: dict[tuple[str, TopicPartition], Checkpoint] = {}
        self._has_just_looked = False

    def use_home(self, home: HomeCluster) -> None:
        """Checkpoints and groups are there."""
        self._home = home

    def partitions(self) -> Sequence[SourcePartition]:
        """One, unless nothing is wanted at all."""
        if not self._is_enabled or not self._emits:
            return []
        if self._home is not None:
            with failing("target", self._policy.target_alias), self._target() as admin:
                make_compacted(admin, self._policy.checkpoints_topic(), self._factor)
        return [{"cluster": self._policy.source_alias}]

    def _target(self) -> Admin:
        assert self._home is not None, "the target is known"
        return Admin(clusters.target_admin(self.config, self._home.client))

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """Checkpoints that are new, at each interval."""
        del partition, start, limit
        if self._home is None or self._has_just_looked:  # it is tried out, or has to wait
            self._has_just_looked = False
            return None
        found = self._look()
        self._has_just_looked = bool(found)
        return SourceBatch([], {OFFSET: 0}, self._records(found)) if found else None

    def _look(self) -> list[Checkpoint]:
        with failing("source", self._policy.source_alias):
            source, target = self._connected()
            groups = _offsets_of(source, self._groups)
            assert self._reader is not None, "it is made with the connections"
            self._reader.read_on()
        checkpoints = {
            (each.group, each.partition): each
            for group, offsets in groups.items()
            for each in self._translated(group, offsets)
        }
        if self._sets:
            with failing("target", self._policy.target_alias):
                target.bring_forward(checkpoints.values())
        new = [
            each for key, each in checkpoints.items() if self._is_news(self._emitted.get(key), each)
        ]
        self._emitted |= {(each.group, each.partition): each for each in new}
        return new

    def _connected(self) -> tuple[Admin, TargetGroups]:
        if self._admins is None:
            assert self._home is not None, "the target is known"
            source = self._opened.enter_context(Admin(self._client))
            target = self._opened.enter_context(self._target())
            client = (
                clusters.sync_consumer(self.config)
                if self._syncs.is_at_source
                else clusters.target_consumer(self.config, self._home.client)
            )
            self._reader = SyncReader(client, self._syncs.name)
            self._opened.callback(self._reader.close)
            self._admins = source, TargetGroups(target)
        return self._admins

    def _translated(
        self, group: str, offsets: Mapping[TopicPartition, CommittedOffset]
    ) -> Iterator[Checkpoint]:
        assert self._reader is not None, "it is made with the connections"
        for place, committed in offsets.items():
            if not self._topics.takes(place.topic):
                continue
            target = self._reader.translated(place, committed.offset)
            if target is not None:
                remote = TopicPartition(self._policy.remote_topic(place.topic), place.partition)
                yield Checkpoint(group, remote, committed.offset, target, committed.metadata)

    @staticmethod
    def _is_news(before: Checkpoint | None, now: Checkpoint) -> bool:
        """Further on, or the group was moved back on purpose."""
        return before is None or now.target > before.target or now.source < before.source

    def _records(self, checkpoints: Iterable[Checkpoint]) -> list[ConnectRecord]:
        topic = self._policy.checkpoints_topic()
        return [
            ConnectRecord(
                topic,
                Datum(each.key(), BYTES_SCHEMA),
                Datum(each.value(), BYTES_SCHEMA),
                partition=0,
            )
            for each in checkpoints
        ]

    def measurements(self) -> Mapping[str, float]:
        """How many groups have been translated."""
        return {"translated_groups": len({group for group, _ in self._emitted})}

    def check_offset(self, partition: SourcePartition, offset: Offset | None) -> None:
        """They mean nothing: each begin looks at the groups."""
        if offset is not None and offset.get(OFFSET) != 0:
            raise ConnectError(f"{dict(partition)}: offsets of checkpoints are 0")

    def close(self) -> None:
        """Hang up."""
        self._opened.close()


def _offsets_of(
    source: Admin, chosen: NameFilter
) -> dict[str, dict[TopicPartition, CommittedOffset]]:
    """How far each group is; one whose coordinator does not answer is left out this time."""
    names = [each.group_id for each in source.list_groups() if chosen.takes(each.group_id)]
    if not names:
        return {}
    found = source.list_group_offsets(names)
    for group, error in found.errors.items():
        _log.warning("offsets of group %s are not known: %s", group, _text(error))
    return found.succeeded


def _text(error: KafkaError) -> str:
    return str(error).partition("\n")[0]
