"""Our log on the real disk, described in the words in which Apache's is."""

from collections.abc import Iterator
from pathlib import Path

from conformance.apache.lines import Json
from moldau.config.topic import TopicConfig
from moldau.log import cleaning_plan, flush, meta_properties
from moldau.log.cleaner import Cleaner, Workspace
from moldau.log.cleaning_plan import Dirtiness
from moldau.log.cleaning_swap import swap_in
from moldau.log.directory import LogDirectory
from moldau.log.log import Log
from moldau.log.opening import Remembered, create, open_log
from moldau.log.pace import unhurried
from moldau.log.producer_state import ProducerEntry
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.records.batch import BatchHeader, iterate_headers, read_records
from moldau.records.record import Record
from moldau.runtime.disk import PosixDisk

LIMIT_BYTES = 2**26
NO_OFFSET = -1


def create_our_log(directory: Path, config: dict[str, str], *, now_ms: int) -> Log:
    """An empty log in `directory`, which is named like a partition."""
    settings = TopicConfig().with_overrides(config)
    return create(_folder(directory), settings, Shared(), now_ms=now_ms)


def open_our_log(
    directory: Path, config: dict[str, str], *, remembered: Remembered, now_ms: int
) -> Log:
    """The log in `directory`."""
    settings = TopicConfig().with_overrides(config)
    folder = _folder(directory)
    return open_log(folder, settings, Shared(), remembered=remembered, now_ms=now_ms)


def close_our_log(log: Log) -> None:
    """Leave the files as a clean stop does."""
    flush.prepare_close(log).run(log.folder.disk)


def clean_our_log(log: Log, dirtiness: Dirtiness, *, now_ms: int) -> int:
    """Compact it; returns up to where it is clean now."""
    plan = cleaning_plan.plan(log, dirtiness, now_ms=now_ms)
    cleaner = Cleaner(log.folder.disk, plan, Workspace(seed=bytes(16)), unhurried())
    for cleaned in cleaner.segments():
        assert swap_in(log, plan, cleaned, now_ms=now_ms)
    return cleaner.end_offset


def claim_directory(path: Path) -> LogDirectory:
    """A log directory that an Apache broker has left, taken over in its name."""
    volume = Volume(PosixDisk(), str(path))
    owner = meta_properties.read(volume.disk, str(path / meta_properties.FILE_NAME))
    assert owner is not None
    directory = LogDirectory(volume, Shared())
    directory.claim(owner)
    return directory


def state_of(log: Log) -> Json:
    """What the call `log_state` says of Apache's log."""
    log.raise_high_watermark(log.log_end_offset)
    return {
        "log_start_offset": log.log_start_offset,
        "log_end_offset": log.log_end_offset,
        "last_stable_offset": log.last_stable_offset,
        "segments": list(log.segments.base_offsets),
        "epochs": [list(entry) for entry in log.epochs],
        "producers": [_describe(producer) for producer in log.producers],
        "aborted": [
            list(transaction)
            for segment in log.segments
            for transaction in segment.aborted_in(0, log.log_end_offset).transactions
        ],
    }


def batches_of(log: Log) -> Iterator[tuple[BatchHeader, list[Record]]]:
    """Every batch from the log start on, read as a follower does."""
    offset = log.log_start_offset
    while True:
        fetched = log.read(offset, max_bytes=2**20, at_least_one=True)
        if fetched.range is None:
            return
        data = fetched.range.read()
        for position, header in iterate_headers(data):
            yield header, list(read_records(data, position, limit_bytes=LIMIT_BYTES))
            offset = header.next_offset


def visible_records(log: Log, *, committed_only: bool) -> list[Record]:
    """What a consumer of one or the other isolation level may see."""
    aborted = state_of(log)["aborted"]
    records: list[Record] = []
    for header, rows in batches_of(log):
        is_aborted = header.is_transactional and any(
            header.producer_id == producer_id and first <= header.base_offset <= last
            for producer_id, first, last, _ in aborted
        )
        is_open = header.base_offset >= log.last_stable_offset
        if not header.is_control and not (committed_only and (is_aborted or is_open)):
            records += rows
    return records


def _describe(producer: ProducerEntry) -> Json:
    last = producer.batches[-1] if producer.batches else None
    return {
        "producer_id": producer.producer_id,
        "producer_epoch": producer.epoch,
        "coordinator_epoch": producer.coordinator_epoch,
        "last_sequence": producer.last_sequence,
        "last_offset": last.last_offset if last else NO_OFFSET,
        "offset_delta": last.offset_delta if last else 0,
        "last_timestamp": producer.last_timestamp,
        "transaction_first_offset": producer.transaction_first_offset,
    }


def _folder(directory: Path) -> Folder:
    topic, _, number = directory.name.rpartition("-")
    return Folder(Volume(PosixDisk(), str(directory.parent)), TopicPartition(topic, int(number)))
