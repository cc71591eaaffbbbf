"""What the driver asks the cluster: partitions, and where they begin and end."""

import re
from types import TracebackType
from typing import Self

from moldau.client.admin.configs import ConfigKind, ConfigResource
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.model import TopicPartition
from moldau.spark.offsets import EARLIEST, LATEST, Offsets
from moldau.spark.options import Bound, SourceOptions

LOG_APPEND_TIME = "LogAppendTime"


def consumer_settings(options: SourceOptions) -> dict[str, object]:
    """The settings of every consumer of a source."""
    return {**dict(options.client), "enable.auto.commit": False, "auto.offset.reset": "none"}


class Cluster:
    """Answers about the topics of a source, each time from the brokers."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._consumer = Consumer[bytes, bytes](consumer_settings(options))
        self._admin: Admin | None = None

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
        self._consumer.close()
        if self._admin is not None:
            self._admin.close()

    def partitions(self) -> list[TopicPartition]:
        """All that is read now; topics and partitions may appear at any time."""
        topics = self._options.topics
        if topics.partitions:
            return list(topics.partitions)
        names = topics.names
        if topics.pattern is not None:
            matches = re.compile(topics.pattern).fullmatch
            names = tuple(name for name in self._administration().list_topics() if matches(name))
        return sorted(each for name in names for each in self._consumer.partitions_of(name))

    def offsets(self, partitions: list[TopicPartition], bound: Bound) -> Offsets:
        """The offsets that a bound means, for partitions that it does not name as well."""
        timestamps = dict(bound.timestamps)
        if bound.timestamp is not None:
            timestamps = dict.fromkeys(partitions, bound.timestamp)
        wanted = dict.fromkeys(partitions, bound.otherwise) | dict(bound.offsets)
        unknown = sorted({*timestamps, *dict(bound.offsets)} - {*partitions})
        if unknown:
            raise ValueError(f"offsets are given for {unknown[0]}, which is not read")
        if timestamps:
            found = self._consumer.offsets_for_times(timestamps)
            for each, at in found.items():
                wanted[each] = LATEST if at is None else at.offset
        return self._resolved(wanted)

    def _resolved(self, wanted: Offsets) -> Offsets:
        early = [each for each, offset in wanted.items() if offset == EARLIEST]
        late = [each for each, offset in wanted.items() if offset == LATEST]
        return {
            **wanted,
            **(self._consumer.beginning_offsets(early) if early else {}),
            **(self._consumer.end_offsets(late) if late else {}),
        }

    def first_offsets(self, partitions: list[TopicPartition]) -> Offsets:
        """Where the partitions begin."""
        return self._resolved(dict.fromkeys(partitions, EARLIEST))

    def last_offsets(self, partitions: list[TopicPartition]) -> Offsets:
        """Where the partitions end."""
        return self._resolved(dict.fromkeys(partitions, LATEST))

    def topics_with_append_time(self, names: set[str]) -> frozenset[str]:
        """Those whose records carry the broker's time."""
        resources = {name: ConfigResource(ConfigKind.TOPIC, name) for name in sorted(names)}
        settings = self._administration().describe_configs(resources.values())
        return frozenset(
            name
            for name, resource in resources.items()
            if settings[resource]["message.timestamp.type"].value == LOG_APPEND_TIME
        )

    def _administration(self) -> Admin:
        if self._admin is None:
            self._admin = Admin(dict(self._options.client))
        return self._admin
