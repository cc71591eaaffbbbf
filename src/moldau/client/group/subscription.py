"""What a consumer subscribes to: topics by name, or all whose names match a pattern."""

import re
from dataclasses import dataclass

from moldau.client.connection.cluster import Cluster
from moldau.protocol.messages.metadata import MetadataRequest, MetadataResponse


@dataclass(frozen=True, slots=True)
class Subscription:
    """Names or a pattern; neither means nothing."""

    names: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None

    def __bool__(self) -> bool:
        return bool(self.names) or self.pattern is not None

    async def topics(self, cluster: Cluster) -> tuple[str, ...]:
        """The topics that it stands for now.

        Those of the brokers themselves match no pattern, unless `exclude.internal.topics` is off.
        """
        if self.pattern is None:
            return self.names
        has_internal = not getattr(cluster.settings, "exclude_internal_topics", True)
        answer = await cluster.ask_any(MetadataRequest(topics=None), MetadataResponse)
        return tuple(
            sorted(
                topic.name
                for topic in answer.topics
                if topic.name is not None
                and (has_internal or not topic.is_internal)
                and self.pattern.search(topic.name)
            )
        )
