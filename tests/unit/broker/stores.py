"""A log directory on a disk in memory, and a clock that a test sets."""

from dataclasses import dataclass, field

from moldau.config.topic import TopicConfig
from moldau.log.directory import LogDirectory
from moldau.log.log import Log
from moldau.log.meta_properties import MetaProperties
from moldau.log.shared import Shared
from moldau.log.volume import Volume
from moldau.model import TopicPartition
from moldau.records.batch import write_batch
from moldau.records.record import Record
from moldau.testing.disk import MemoryDisk

PATH = "/data"


@dataclass(slots=True)
class SetClock:
    """Shows what it was set to."""

    at_ms: int = 1_000_000

    def now_ms(self) -> int:
        return self.at_ms

    def monotonic_ms(self) -> int:
        return self.at_ms

    def monotonic_ns(self) -> int:
        return self.at_ms * 1_000_000


@dataclass(slots=True)
class Store:
    """One log directory, ready for logs."""

    disk: MemoryDisk = field(default_factory=MemoryDisk)
    clock: SetClock = field(default_factory=SetClock)
    path: str = PATH
    directory: LogDirectory = field(init=False)

    def __post_init__(self) -> None:
        self.disk.make_directory(self.path)
        self.disk.sync_directory("/")
        self.directory = LogDirectory(Volume(self.disk, self.path), Shared())
        self.directory.claim(MetaProperties(0, "cluster"))
        for _ in self.directory.load(lambda _: TopicConfig(), now_ms=self.clock.at_ms):
            pass

    def log(self, topic: str = "orders", **settings: object) -> Log:
        config = TopicConfig(**settings)  # type: ignore[arg-type]
        partition = TopicPartition(topic, 0)
        return self.directory.create(partition, config, now_ms=self.clock.at_ms)

    def names(self, log: Log) -> list[str]:
        return sorted(entry.name for entry in self.disk.list_directory(log.folder.path))

    def has(self, name: str) -> bool:
        return self.disk.status(f"{self.path}/{name}") is not None


def append(
    log: Log, *keys: bytes, value: bytes = b"value", timestamp: int = 1_000_000, now_ms: int = 0
) -> None:
    """Append one batch with a record per key, committed at once."""
    records = [
        Record(number, timestamp, key, value) for number, key in enumerate(keys or (b"key",))
    ]
    log.append_as_leader(write_batch(records), leader_epoch=0, now_ms=now_ms)
    log.raise_high_watermark(log.log_end_offset)
