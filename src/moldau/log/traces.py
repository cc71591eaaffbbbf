"""Traces that a topic's settings have left in its log, for want of the settings themselves."""

from enum import Flag, auto
from itertools import islice

from moldau.errors import KafkaError, KafkaStorageError, ProtocolError
from moldau.log import checkpoint
from moldau.log.checkpoint import CheckpointError
from moldau.log.directory import LogDirectory
from moldau.log.log import Log
from moldau.model import TopicPartition

# Compaction begins at the start of a log, so it shows there; a directory may hold thousands.
_BATCHES_MAX = 100


class Trace(Flag):
    """What a log looks like; none of it is certain."""

    NONE = 0
    COMPACTED = auto()
    LOG_APPEND_TIME = auto()


def find_traces(directory: LogDirectory) -> dict[str, Trace]:
    """What the logs in a directory look like, by their topics."""
    cleaned = _cleaned(directory)
    found: dict[str, Trace] = {}
    for partition, log in directory.logs.items():
        traces = _traces(log)
        if cleaned.get(partition, 0) > 0:
            traces |= Trace.COMPACTED
        found[partition.topic] = found.get(partition.topic, Trace.NONE) | traces
    return found


def _cleaned(directory: LogDirectory) -> dict[TopicPartition, int]:
    """Up to where logs were compacted."""
    volume = directory.volume
    try:
        with volume.guard():
            return checkpoint.read_offsets(
                volume.disk, f"{volume.path}/{checkpoint.CLEANER_OFFSETS}"
            )
    except (CheckpointError, KafkaStorageError):
        return {}


def _traces(log: Log) -> Trace:
    """Compaction leaves holes: between batches, and in batches fewer records than offsets."""
    found = Trace.NONE
    next_offset = log.segments.first.base_offset
    try:
        with log.folder.volume.guard():
            for _, header in islice(log.segments.first.headers(), _BATCHES_MAX):
                has_fewer = header.record_count <= header.last_offset_delta
                if has_fewer or header.base_offset > next_offset:
                    found |= Trace.COMPACTED
                if header.is_log_append_time:
                    found |= Trace.LOG_APPEND_TIME
                next_offset = header.next_offset
    except (KafkaError, ProtocolError):
        pass  # What is damaged is reported when it is read.
    return found
