"""The names Kafka gives to files and directories in a log directory.

A partition's directory is called `topic-partition`; when it is being deleted,
`topic-partition.<32 hex digits>-delete`; while it is a copy that will replace the one in
another log directory, `topic-partition.<32 hex digits>-future`. The files of a segment are
named by its base offset in twenty digits and differ by suffix; a second suffix says that
the file is not, or not any more, part of the log.
"""

from moldau.model import TopicPartition

LOG = ".log"
OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
SNAPSHOT = ".snapshot"
SEGMENT_SUFFIXES = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)
INDEX_SUFFIXES = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)

DELETED = ".deleted"  # waits to be removed
CLEANED = ".cleaned"  # compaction's output, not complete yet
SWAP = ".swap"  # complete, about to replace what it was made from

DELETE_DIRECTORY = "-delete"
FUTURE_DIRECTORY = "-future"
_DIRECTORY_NAME_MAX = 255
_UNIQUE_LENGTH = 32

OFFSET_DIGITS = 20


def segment_file(base_offset: int, suffix: str) -> str:
    """`00000000000000000042.log`."""
    return f"{base_offset:020d}{suffix}"


def offset_of(name: str) -> int | None:
    """The offset a file is named by, or None if it is not named by one."""
    digits = name[:OFFSET_DIGITS]
    if len(digits) == OFFSET_DIGITS and digits.isascii() and digits.isdigit():
        return int(digits)
    return None


def partition_of(directory_name: str) -> TopicPartition | None:
    """The partition a directory belongs to, or None if it holds no live partition."""
    topic, dash, number = directory_name.rpartition("-")
    if not (dash and topic and number.isascii() and number.isdigit()):
        return None
    if directory_name != f"{topic}-{int(number)}":
        return None
    return TopicPartition(topic, int(number))


def doomed_directory(partition: TopicPartition, unique: str) -> str:
    """The name of a partition's directory on its way out; `unique` is 32 hex digits.

    A long topic name is cut so that the whole name fits a file system.
    """
    return _suffixed(partition, unique, DELETE_DIRECTORY)


def future_directory(partition: TopicPartition, unique: str) -> str:
    """The name of the directory of a copy that is being made; cut like a doomed one's."""
    return _suffixed(partition, unique, FUTURE_DIRECTORY)


def future_partition_of(directory_name: str) -> TopicPartition | None:
    """The partition that a copy was made of, or None if the name does not say."""
    stem, dot, _ = directory_name.removesuffix(FUTURE_DIRECTORY).rpartition(".")
    return partition_of(stem) if dot and len(directory_name) < _DIRECTORY_NAME_MAX else None


def _suffixed(partition: TopicPartition, unique: str, suffix: str) -> str:
    assert len(unique) == _UNIQUE_LENGTH
    tail = f"-{partition.partition}.{unique}{suffix}"
    return partition.topic[: _DIRECTORY_NAME_MAX - len(tail)] + tail
