"""A record at each interval, which mirrors carry on: it shows that they are at work (KIP-382)."""

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

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
from moldau.connect.connectors.mirror.layouts import heartbeat
from moldau.connect.connectors.mirror.policy import HEARTBEATS, ReplicationPolicy
from moldau.connect.connectors.mirror.positions import OFFSET
from moldau.connect.connectors.mirror.source import BYTES, CONVERTERS, failing
from moldau.connect.connectors.mirror.topics import make_compacted
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import BYTES as BYTES_SCHEMA


class MirrorHeartbeats(Source):
    """They are written to the worker's cluster, whose own mirrors carry them on."""

    prefixes = clusters.PREFIXES
    defaults: ClassVar[Mapping[str, str]] = dict.fromkeys(CONVERTERS, BYTES)

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._policy = ReplicationPolicy.of(config)
        self._factor = number(config, "heartbeats.topic.replication.factor", 3)
        self._is_wanted = flag(config, "enabled", default=True) and flag(
            config, "emit.heartbeats.enabled", default=True
        )
        self.poll_interval_s = number(config, "emit.heartbeats.interval.seconds", 1)
        self._home: HomeCluster | None = None
        self._has_just_beaten = False

    def use_home(self, home: HomeCluster) -> None:
        """The topic is there."""
        self._home = home

    def partitions(self) -> Sequence[SourcePartition]:
        """The direction, unless no heartbeats are wanted."""
        if not self._is_wanted:
            return []
        policy = self._policy
        if self._home is not None:
            client = clusters.target_admin(self.config, self._home.client)
            with failing("target", policy.target_alias), Admin(client) as admin:
                make_compacted(admin, HEARTBEATS, self._factor)
        return [
            {"sourceClusterAlias": policy.source_alias, "targetClusterAlias": policy.target_alias}
        ]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """One, then nothing for an interval."""
        del partition, start, limit
        self._has_just_beaten = not self._has_just_beaten
        if not self._has_just_beaten:
            return None
        now_ms = int(time.time() * 1000)
        key, value = heartbeat(self._policy.source_alias, self._policy.target_alias, now_ms)
        record = ConnectRecord(
            HEARTBEATS,
            Datum(key, BYTES_SCHEMA),
            Datum(value, BYTES_SCHEMA),
            timestamp_ms=now_ms,
            partition=0,
        )
        return SourceBatch([], {OFFSET: 0}, [record])
