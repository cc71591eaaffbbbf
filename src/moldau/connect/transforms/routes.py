"""Transformations that say where a record goes, if anywhere: RegexRouter, Filter."""

import re
from collections.abc import Mapping

from moldau.connect.config.values import required
from moldau.connect.data.record import ConnectRecord
from moldau.connect.errors import ConfigError
from moldau.connect.transforms.side import RecordSide

_GROUP = re.compile(r"\\(.)|\$(\d+)|\$\{(\w+)\}")


class RegexRouter:
    """Renames topics that match as a whole."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        del side
        self._pattern = java_pattern(required(settings, "regex"))
        self._replacement = required(settings, "replacement")

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Others keep their name."""
        found = self._pattern.fullmatch(record.topic)
        if found is None:
            return record

        def group(marked: re.Match[str]) -> str:
            if marked.group(1) is not None:
                return marked.group(1)
            return found.group(marked.group(3) or int(marked.group(2))) or ""

        return record.but(topic=_GROUP.sub(group, self._replacement))


class Filter:
    """Takes records out: those that its predicate chooses."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        del settings, side

    def apply(self, record: ConnectRecord) -> None:
        """Every one."""
        del record


def java_pattern(text: str) -> re.Pattern[str]:
    """A regular expression of Java's; named groups are written a little differently."""
    try:
        return re.compile(re.sub(r"\(\?<(?=[A-Za-z])", "(?P<", text))
    except re.error as error:
        raise ConfigError(f"Invalid regex: {error}: {text}") from error
