"""Asks for the metadata of topics, and creates none unless that is wanted.

Brokers before 0.11 (Metadata below version 4) create whatever topic they are asked for. They
can be asked for all topics, which creates none; Java's admin client does the same.
"""

from collections.abc import Collection
from typing import NamedTuple

from moldau.errors import ErrorCode
from moldau.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)

METADATA = 3
_NULL_FOR_ALL = 1
_CREATION_IS_OPTIONAL = 4


class TopicInquiry(NamedTuple):
    """Which topics one wants to know of, None for all, and whether to create those missing."""

    topics: Collection[str] | None
    creates: bool = False

    def request(self, version: int) -> MetadataRequest:
        """What to ask in this version of Metadata; the answer may say more than was wanted."""
        named = None if self._asks_for_all(version) else self.topics
        topics = None if named is None else [MetadataRequestTopic(name=each) for each in named]
        if topics is None and version < _NULL_FOR_ALL:
            topics = []
        can_choose = version >= _CREATION_IS_OPTIONAL
        return MetadataRequest(
            topics=topics, allow_auto_topic_creation=self.creates or not can_choose
        )

    def narrow(self, answer: MetadataResponse, version: int) -> MetadataResponse:
        """The answer as if these topics alone had been asked for."""
        if self.topics is not None and self._asks_for_all(version):
            found = {each.name: each for each in answer.topics}
            answer.topics = [found.get(name) or _absent(name) for name in self.topics]
        return answer

    def _asks_for_all(self, version: int) -> bool:
        if not self.topics:
            # An empty list means all topics in version 0, and none from version 1 on.
            return self.topics is None or version < _NULL_FOR_ALL
        return not self.creates and version < _CREATION_IS_OPTIONAL


def _absent(name: str) -> MetadataResponseTopic:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return MetadataResponseTopic(error_code=code, name=name, partitions=[])
