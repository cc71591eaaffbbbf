"""Kafka's own message definitions: the commented JSON files inside the jars of kafka-clients."""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from conformance.apache.jars import jar_paths
from conformance.apache.lines import Json

_FOLDER = "common/message/"


def message_definitions(class_path_name: str) -> dict[str, Json]:
    """Name of a message -> its definition, as parsed JSON."""
    (jar,) = (path for path in jar_paths(class_path_name) if "kafka-clients" in path.name)
    return {definition["name"]: definition for definition in _read(jar)}


def without_comments(text: str) -> str:
    """The text without `//` comments, outside string literals."""
    return re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*', lambda match: match[1] or "", text)


def _read(jar: Path) -> Iterator[Json]:
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.startswith(_FOLDER) and name.endswith(".json"):
                yield json.loads(without_comments(archive.read(name).decode()))
