"""The segments of one log, in the order of their offsets; the last one is active."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from moldau.log.segment import Segment


class Segments:
    """At least one segment at any time; the base offsets rise."""

    __slots__ = ("_base_offsets", "_segments", "active", "end_offset")

    def __init__(self, segments: Iterable[Segment], *, end_offset: int) -> None:
        """`end_offset` is the offset behind the last batch: the log end offset."""
        self._segments = list(segments)
        self.end_offset = end_offset
        self._base_offsets = [segment.base_offset for segment in self._segments]
        assert self._segments
        self.active = self._segments[-1]
        assert self._base_offsets == sorted(set(self._base_offsets))

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(tuple(self._segments))

    @property
    def first(self) -> Segment:
        return self._segments[0]

    @property
    def base_offsets(self) -> Sequence[int]:
        return self._base_offsets

    @property
    def size(self) -> int:
        """The bytes of all batches."""
        return sum(segment.size for segment in self._segments)

    def since(self, offset: int) -> list[Segment]:
        """The segment that holds `offset`, or would, and all after it."""
        return self._segments[max(0, bisect_right(self._base_offsets, offset) - 1) :]

    def end_of(self, segment: Segment) -> int:
        """Where the segment behind this one begins, or would begin."""
        behind = bisect_right(self._base_offsets, segment.base_offset)
        return self._base_offsets[behind] if behind < len(self._base_offsets) else self.end_offset

    def add(self, segment: Segment) -> None:
        """Make this the active segment."""
        assert segment.base_offset > self.active.base_offset
        self._segments.append(segment)
        self.active = segment
        self._base_offsets.append(segment.base_offset)

    def remove_first(self) -> Segment:
        """Take out the oldest segment; the active one stays."""
        assert len(self._segments) > 1
        del self._base_offsets[0]
        return self._segments.pop(0)

    def remove_last(self) -> Segment:
        """Take out the active segment; the one before it becomes active."""
        assert len(self._segments) > 1
        del self._base_offsets[-1]
        removed = self._segments.pop()
        self.active = self._segments[-1]
        return removed

    def replace(self, replaced: Sequence[Segment], replacements: Sequence[Segment]) -> None:
        """Put `replacements` where the consecutive `replaced` were."""
        start = self._segments.index(replaced[0])
        assert self._segments[start : start + len(replaced)] == list(replaced)
        self._segments[start : start + len(replaced)] = replacements
        self.active = self._segments[-1]
        self._base_offsets = [segment.base_offset for segment in self._segments]
        assert self._base_offsets == sorted(set(self._base_offsets))
