"""All logs of a broker, over all of its log directories."""

from collections.abc import Callable, Iterator, Sequence

from moldau.broker.settings.topic_configs import TopicConfigs
from moldau.errors import ErrorCode, KafkaError
from moldau.log.directory import LogDirectory
from moldau.log.log import Log
from moldau.model import TopicPartition


class Logs:
    """Finds a log, and puts new ones where there are fewest."""

    def __init__(
        self,
        directories: Sequence[LogDirectory],
        configs: TopicConfigs,
        *,
        new_uuid_hex: Callable[[], str],
    ) -> None:
        self.directories = directories
        self.configs = configs
        self._new_uuid_hex = new_uuid_hex

    def __iter__(self) -> Iterator[Log]:
        for directory in self.directories:
            yield from directory.logs.values()

    def get(self, partition: TopicPartition) -> Log | None:
        """The log of a partition, if there is one."""
        directory = self.directory_of(partition)
        return None if directory is None else directory.logs[partition]

    def create(
        self, partition: TopicPartition, *, topic_id: bytes | None, is_new: bool, now_ms: int
    ) -> Log:
        """Make an empty log in the online directory that has the fewest.

        A partition that is not new had a log. If it is not found, it may be in a directory
        that is offline, and an empty one in its place would lose what it holds.
        """
        for one in self.directories:
            if partition in one.set_aside:
                message = f"{partition} cannot be opened: {one.set_aside[partition].reason}"
                raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, message)
        online = [one for one in self.directories if one.volume.is_online]
        if not online or (not is_new and len(online) < len(self.directories)):
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "a log directory is offline")
        directory = min(online, key=lambda one: len(one.logs))
        config = self.configs.of(partition.topic)
        return directory.create(partition, config, topic_id=topic_id, now_ms=now_ms)

    def holds(self, partition: TopicPartition) -> bool:
        """Whether there are files of a partition, be they of use or not."""
        return self._holder_of(partition) is not None

    def delete(self, partition: TopicPartition, *, now_ms: int) -> None:
        """Take a log away; its files go later."""
        directory = self._holder_of(partition)
        assert directory is not None
        directory.delete(partition, unique=self._new_uuid_hex(), now_ms=now_ms)

    def configure(self, partition: TopicPartition) -> None:
        """Give a log that is there the settings of its topic."""
        log = self.get(partition)
        if log is not None:
            log.config = self.configs.of(partition.topic)

    def reconfigure(self, topic: str) -> None:
        """The topic's settings have changed."""
        config = self.configs.of(topic)
        for log in self:
            if log.partition.topic == topic:
                log.config = config

    def reconfigure_all(self) -> None:
        """The settings behind those of all topics have changed."""
        for log in self:
            log.config = self.configs.of(log.partition.topic)

    def drop_duplicates(self, *, now_ms: int) -> None:
        """Keep one log of a partition that has two: a move ended between its two renames.

        Both have the same records, but for what a failing machine may have cost one of them.
        """
        found: dict[TopicPartition, list[LogDirectory]] = {}
        for directory in self.directories:
            for partition in directory.logs:
                found.setdefault(partition, []).append(directory)
        for partition, holders in found.items():
            holders.sort(key=lambda one: one.logs[partition].log_end_offset)
            for directory in holders[:-1]:
                directory.delete(partition, unique=self._new_uuid_hex(), now_ms=now_ms)

    def directory_of(self, partition: TopicPartition) -> LogDirectory | None:
        """Where the log of a partition is."""
        for directory in self.directories:
            if partition in directory.logs:
                return directory
        return None

    def _holder_of(self, partition: TopicPartition) -> LogDirectory | None:
        for directory in self.directories:
            if partition in directory.logs or partition in directory.set_aside:
                return directory
        return None
