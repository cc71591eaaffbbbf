"""Checkpoint files: a few numbers per partition, as text, replaced as a whole.

The first line is the version 0, the second the number of entries, then comes one entry
per line, its fields separated by a space:

    0
    2
    orders 0 1200
    orders 1 980

A file without a byte holds no entries: Apache makes it at its first start, and writes it
later. A reader that finds anything else gets a `CheckpointError` and falls back to what is safe
without the file: a recovery point of 0, a high watermark or a clean offset at the start
of the log.
"""

from collections.abc import Iterable, Mapping, Sequence

from moldau.model import TopicPartition
from moldau.runtime.disk import Disk, write_atomically

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
LOG_START_OFFSETS = "log-start-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"

VERSION = "0"


class CheckpointError(Exception):
    """A file that is not a checkpoint, or not one of a version we know."""


def read_offsets(disk: Disk, path: str) -> dict[TopicPartition, int]:
    """Read one offset per partition; a file that was never written holds none."""
    data = b"" if disk.status(path) is None else disk.read_file(path)
    if not data:
        return {}
    offsets = {}
    for topic, partition, offset in decode_entries(data, field_count=3):
        offsets[TopicPartition(topic, parse_number(partition))] = parse_number(offset)
    return offsets


def write_offsets(disk: Disk, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Replace the file; after a crash it holds the old offsets or the new ones."""
    entries = [(topic, partition, offset) for (topic, partition), offset in offsets.items()]
    write_atomically(disk, path, encode_entries(entries))


def encode_entries(entries: Sequence[Iterable[object]]) -> bytes:
    """The text of a checkpoint file."""
    lines = [VERSION, str(len(entries))]
    lines += [" ".join(map(str, entry)) for entry in entries]
    return ("\n".join(lines) + "\n").encode()


def decode_entries(data: bytes, *, field_count: int) -> list[list[str]]:
    """The fields of every entry; raises `CheckpointError` unless all is as promised."""
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError as error:
        raise CheckpointError(f"not text: {error}") from None
    if len(lines) < 2 or lines[0].strip() != VERSION:
        raise CheckpointError(f"not a checkpoint of version {VERSION}: {lines[:1]}")
    entries = [line.split() for line in lines[2:]]
    if len(entries) != parse_number(lines[1]):
        raise CheckpointError(f"{len(entries)} entries where {lines[1]} were promised")
    for entry in entries:
        if len(entry) != field_count:
            raise CheckpointError(f"entry with {len(entry)} fields instead of {field_count}")
    return entries


def parse_number(text: str) -> int:
    """A number that is never negative, as all of them are."""
    # int() alone would take underscores, signs and digits of other scripts.
    if not (text.isascii() and text.isdigit()) or len(text) > 19:
        raise CheckpointError(f"{text[:40]!r} is not a number")
    return int(text)
