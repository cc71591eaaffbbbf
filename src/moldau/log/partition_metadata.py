"""`partition.metadata`: the id of the topic that a partition directory belongs to.

    version: 0
    topic_id: 2bmZuQoqTgWtkZlkIiDTHg

The id is 16 bytes, in the file as URL-safe base64 without padding.
"""

from moldau.log.checkpoint import CheckpointError
from moldau.model import format_uuid, parse_uuid
from moldau.runtime.disk import Disk, write_atomically

FILE_NAME = "partition.metadata"
ZERO_ID = bytes(16)


def read(disk: Disk, path: str) -> bytes | None:
    """The topic id, or None without a file; raises `CheckpointError` if it is malformed."""
    if disk.status(path) is None:
        return None
    try:
        lines = disk.read_file(path).decode().splitlines()
    except UnicodeDecodeError as error:
        raise CheckpointError(f"not text: {error}") from None
    fields = [line.partition(":") for line in lines]
    values = {name.strip(): value.strip() for name, _, value in fields}
    if len(lines) != 2 or values.get("version") != "0" or "topic_id" not in values:
        raise CheckpointError(f"not a version and a topic id: {lines[:3]}")
    try:
        topic_id = parse_uuid(values["topic_id"])
    except ValueError as error:
        raise CheckpointError(str(error)) from None
    if topic_id == ZERO_ID:
        raise CheckpointError("the topic id is zero, which means none")
    return topic_id


def write(disk: Disk, path: str, topic_id: bytes, *, is_durable: bool = True) -> None:
    """Write the file."""
    assert len(topic_id) == len(ZERO_ID)
    assert topic_id != ZERO_ID, "the zero id means none: write no file"
    text = f"version: 0\ntopic_id: {format_uuid(topic_id)}\n"
    write_atomically(disk, path, text.encode(), is_durable=is_durable)
