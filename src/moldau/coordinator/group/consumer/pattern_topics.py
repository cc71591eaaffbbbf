"""Which topics the patterns of members stand for, found in steps that leave the loop to others.

There may be thousands of topics, and as many patterns. So a group asks for what is known, and
the handler of a heartbeat resolves the pattern of its member beforehand. When topics come,
only those are matched.
"""

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

from moldau.coordinator.group.consumer.pattern import TopicPattern
from moldau.errors import KafkaError
from moldau.metadata.image import ClusterImage

_log = logging.getLogger(__name__)

_KNOWN_MAX = 500
_STEP_WORK = 5000  # characters and places in the expression: a few milliseconds

Resolve = Callable[[str, ClusterImage], tuple[str, ...] | None]
"""The topics of a pattern in order, as far as they are known: None if they are not yet."""


def resolve_at_once(text: str, image: ClusterImage) -> tuple[str, ...]:
    """The topics, however long it takes: for callers that share no event loop."""
    pattern = TopicPattern(text)
    return tuple(sorted(name for name in image.topics if pattern.matches(name)))


class _Matched(NamedTuple):
    """The topics of a pattern among all those of these names."""

    names: frozenset[str]
    topics: tuple[str, ...]


class PatternTopics:
    """What is known of the patterns that were asked for last."""

    def __init__(self, image: Callable[[], ClusterImage]) -> None:
        self._image = image
        self._seen: ClusterImage | None = None
        self._names: frozenset[str] = frozenset()
        self._matched: dict[str, _Matched] = {}

    def resolve(self, text: str, image: ClusterImage) -> tuple[str, ...] | None:
        """See `Resolve`."""
        matched = self._matched.get(text)
        if matched is None or matched.names is not self._names_in(image):
            return None
        return matched.topics

    def is_known(self, text: str) -> bool:
        """Whether a pattern is resolved, for the topics that there are now."""
        return self.resolve(text, self._image()) is not None

    def steps(self, text: str) -> Iterator[None]:
        """Resolve a pattern, with pauses; raises if that takes too long.

        If that is due to topics that have come, they are left out.
        """
        names = self._names_in(self._image())
        pattern = TopicPattern(text)
        known = self._matched.pop(text, None)
        before = _Matched(frozenset(), ()) if known is None else known
        topics = [name for name in before.topics if name in names]
        spent = 0
        try:
            for name in names - before.names:
                work = pattern.work
                if pattern.matches(name):
                    topics.append(name)
                spent += len(name) + pattern.work - work
                if spent > _STEP_WORK:
                    spent = 0
                    yield
        except KafkaError as error:
            if known is None:
                raise
            _log.warning(
                "Failed to match new topics with a subscription, they are left out: %s", error
            )
        self._matched[text] = _Matched(names, tuple(sorted(topics)))
        if len(self._matched) > _KNOWN_MAX:
            del self._matched[next(iter(self._matched))]

    def _names_in(self, image: ClusterImage) -> frozenset[str]:
        """The names of all topics: another object only when they are others."""
        if image is not self._seen:
            self._seen = image
            if image.topics.keys() != self._names:
                self._names = frozenset(image.topics)
        return self._names
