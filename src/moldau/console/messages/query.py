"""What records are asked for: an address says it all, so a view can be sent to others."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from moldau.client.partitioner import partition_of_key
from moldau.console.api.plans import time_ms
from moldau.console.filters.language import Filter, FilterError, parse
from moldau.console.filters.matching import check
from moldau.console.masking import Path
from moldau.console.messages.columns import read_columns
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

STARTS = ("newest", "oldest", "offset", "time")
_LIMIT, _LIMIT_MAX = 50, 1000


@dataclass(frozen=True, slots=True)
class MessageQuery:
    """Records of a topic."""

    start: str = "newest"
    offset: int = 0
    from_ms: int | None = None
    to_ms: int | None = None
    limit: int = _LIMIT
    filter: Filter | None = None
    key: str | None = None
    """Then only the partition is read that this key is in."""
    partitions: tuple[int, ...] = ()
    """None of them means all."""
    is_uncommitted: bool = False
    cursor: Mapping[int, int] = field(default_factory=dict)
    """Where an earlier answer stopped, by partition."""
    columns: tuple[Path, ...] = ()
    """What is picked out of each record, beside its key and value."""

    def chosen(self, partitions: list[int]) -> list[int]:
        """The partitions that are read, of those that there are."""
        if self.key is not None:
            return [partition_of_key(self.key.encode(), partitions)]
        return [each for each in partitions if not self.partitions or each in self.partitions]


def read_query(given: "QueryParams") -> MessageQuery:
    """The query of an address; 400 if it makes no sense."""
    start = given.get("start", "newest")
    if start not in STARTS:
        raise WebError(400, f"start: one of {', '.join(STARTS)}")
    try:
        wanted = parse(given.get("filter", ""))
        if wanted is not None:
            check(wanted)
        return MessageQuery(
            start,
            int(given.get("offset") or 0),
            _time(given.get("from")),
            _time(given.get("to")),
            min(max(int(given.get("limit") or _LIMIT), 1), _LIMIT_MAX),
            wanted,
            given.get("key"),
            tuple(int(each) for each in (given.get("partitions") or "").split(",") if each),
            given.get("uncommitted") == "1",
            read_cursor(given.get("cursor") or ""),
            _columns(given.get("columns") or ""),
        )
    except FilterError as error:
        raise WebError(400, f"filter: {error}") from error
    except ValueError as error:
        raise WebError(400, f"no whole number: {error}") from error


def _columns(text: str) -> tuple[Path, ...]:
    try:
        return read_columns(text)
    except ValueError as error:
        raise WebError(400, f"columns: {error}") from error


def _time(text: str | None) -> int | None:
    if not text:
        return None
    return int(text) if text.isdigit() else time_ms(text)


def read_cursor(text: str) -> dict[int, int]:
    """Offsets by partition, as a cursor says them; ValueError if it says something else."""
    pairs = (each.split(":") for each in text.split(",") if each)
    return {int(partition): int(offset) for partition, offset in pairs}
