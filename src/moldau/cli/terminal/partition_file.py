"""Files of partitions in JSON, as several commands take them."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from moldau.cli.terminal.failure import CommandFailed
from moldau.model import TopicPartition

Entry = dict[str, object]
Wanted = TypeVar("Wanted")


def read_entries(path: str) -> list[Entry]:
    """The objects in the list `partitions` of a file."""
    return _objects(path, "partitions")


def read_topics(path: str) -> list[str]:
    """The names in the list `topics` of a file."""
    return [field(each, "topic", str, path) for each in _objects(path, "topics")]


def partition_of(entry: Entry, path: str) -> TopicPartition:
    """The partition that an object names."""
    return TopicPartition(field(entry, "topic", str, path), field(entry, "partition", int, path))


def field(entry: Entry, name: str, kind: type[Wanted], path: str) -> Wanted:
    """A value that an object must have."""
    value = entry.get(name)
    if not isinstance(value, kind):
        shown = json.dumps(entry)
        raise CommandFailed(f"{path}: {name} is missing in {shown}, or is no {kind.__name__}")
    return value


def require_unique(partitions: Iterable[TopicPartition], complaint: str) -> None:
    """End if a partition stands twice in a file."""
    counts = Counter(partitions)
    repeated = [str(each) for each, count in counts.items() if count > 1]
    if repeated:
        raise CommandFailed(f"{complaint}: {','.join(repeated)}")


def _objects(path: str, name: str) -> list[Entry]:
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise CommandFailed(f"{path} is not JSON: {error}") from error
    found = content.get(name) if isinstance(content, dict) else None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise CommandFailed(f"{path} has no list of objects called {name}")
    return found
