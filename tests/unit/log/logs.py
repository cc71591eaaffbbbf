"""Logs on a disk in memory, and batches to put into them."""

from moldau.config.topic import TopicConfig
from moldau.log import flush, opening
from moldau.log.log import Log
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.records.batch import Producer, write_batch
from moldau.records.record import Record
from moldau.testing.disk import MemoryDisk

PARTITION = TopicPartition("orders", 3)
NO_PRODUCER = Producer(-1, -1, -1)


def batch(
    *values: bytes, timestamp: int = 1000, producer: Producer = NO_PRODUCER, attributes: int = 0
) -> bytearray:
    """A batch of one record per value, all of one timestamp."""
    records = [
        Record(number, timestamp, None, value) for number, value in enumerate(values or (b"value",))
    ]
    return write_batch(records, producer=producer, attributes=attributes)


class Workbench:
    """A disk with one log directory, on which a log is created, lost and opened again."""

    def __init__(self, **settings: object) -> None:
        self.disk = MemoryDisk()
        self.disk.make_directory("/data")
        self.disk.sync_directory("/")
        self.config = TopicConfig(**settings)  # type: ignore[arg-type]
        self.shared = Shared()
        self.volume = Volume(self.disk, "/data")

    @property
    def folder(self) -> Folder:
        return Folder(self.volume, PARTITION)

    def create(self) -> Log:
        return opening.create(self.folder, self.config, self.shared, now_ms=0)

    def open(self, *, now_ms: int = 0, **remembered: int) -> Log:
        """Open the log again, as a process that knows nothing of the one before."""
        self.volume = Volume(self.disk, "/data")
        return opening.open_log(
            self.folder,
            self.config,
            self.shared,
            remembered=opening.Remembered(**remembered),  # type: ignore[arg-type]
            now_ms=now_ms,
        )

    def path(self, name: str) -> str:
        return f"{self.folder.path}/{name}"

    def names(self) -> set[str]:
        return {entry.name for entry in self.disk.list_directory(self.folder.path)}

    def overwrite(self, name: str, data: bytes) -> None:
        """Give a file other contents behind the log's back."""
        file = self.disk.open_append(self.path(name))
        file.truncate(0)
        file.append(data)

    def read(self, name: str) -> bytes:
        return self.disk.read_file(self.path(name))

    def flush(self, log: Log) -> None:
        """Make the log durable, as the service does it."""
        prepared = flush.prepare(log)
        prepared.run(self.disk)
        flush.complete(log, prepared, now_ms=0)

    def close(self, log: Log) -> None:
        """Leave the log as a clean stop does."""
        flush.prepare_close(log).run(self.disk)

    def flip(self, name: str, position: int) -> None:
        """Change one byte of a file."""
        data = bytearray(self.read(name))
        data[position] ^= 0x40
        self.overwrite(name, bytes(data))


def fill(log: Log, count: int, *, size: int = 50, timestamp: int = 1000) -> None:
    """Append batches of two records; the timestamps go up by 10."""
    for number in range(count):
        data = batch(bytes(size), bytes(size), timestamp=timestamp + 10 * number)
        log.append_as_leader(data, leader_epoch=0, now_ms=0)


def offsets_in(log: Log) -> list[int]:
    """The base offsets of all batches, by a scan."""
    return [header.base_offset for segment in log.segments for _, header in segment.headers()]
