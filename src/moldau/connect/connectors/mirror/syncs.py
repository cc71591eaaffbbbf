"""The topic of offset syncs: where it is, how it is made, its records."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from moldau.client.blocking.admin import Admin
from moldau.connect.config.values import flag, number
from moldau.connect.connectors.mirror.layouts import OffsetSync
from moldau.connect.connectors.mirror.policy import ReplicationPolicy
from moldau.connect.connectors.mirror.topics import make_compacted
from moldau.connect.data.record import Outgoing
from moldau.connect.errors import ConfigError
from moldau.errors import KafkaError

_log = logging.getLogger(__name__)

SOURCE, TARGET = "source", "target"
_LOCATION = "offset-syncs.topic.location"


@dataclass(frozen=True, slots=True)
class SyncTopic:
    """In the source cluster unless it is said otherwise (KIP-716)."""

    name: str
    is_at_source: bool
    is_wanted: bool
    factor: int

    @classmethod
    def of(cls, config: Mapping[str, str], policy: ReplicationPolicy) -> "SyncTopic":
        """As settings say."""
        location = config.get(_LOCATION, SOURCE)
        if location not in (SOURCE, TARGET):
            raise ConfigError(f"{_LOCATION}: {location} is neither {SOURCE} nor {TARGET}")
        is_at_source = location == SOURCE
        return cls(
            policy.offset_syncs_topic(is_at_source=is_at_source),
            is_at_source,
            flag(config, "emit.offset-syncs.enabled", default=True),
            number(config, "offset-syncs.topic.replication.factor", 3),
        )

    def make(self, source: Admin, target: Admin) -> None:
        """Have it there; a source that lets nobody write there is copied all the same."""
        if not self.is_wanted:
            return
        try:
            make_compacted(source if self.is_at_source else target, self.name, self.factor)
        except KafkaError as error:
            where = SOURCE if self.is_at_source else TARGET
            _log.warning(
                "topic %s cannot be made in the %s cluster, so offsets of groups cannot be "
                "translated: %s; see %s",
                *(self.name, where, error, _LOCATION),
            )

    def records(self, syncs: Iterable[OffsetSync]) -> list[Outgoing]:
        """As they are written."""
        return [
            Outgoing(self.name, each.key(), each.value(), each.headers(), partition=0)
            for each in syncs
        ]
