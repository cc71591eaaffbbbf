"""DeleteTopics (key 20): delete topics.

Up to version 5 topics are given by name, from version 6 by name or id.
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import NO_UUID, Int16, Int32, Uuid


@struct
class DeleteTopicState:
    name: str | None = None
    topic_id: Uuid


@message(api_key=20, versions=range(0, 7), flexible_from=4)
class DeleteTopicsRequest:
    topics: list[DeleteTopicState] = since(6, factory=list)
    topic_names: list[str] = since(0, removed_in=6, factory=list, ignorable=True)
    timeout_ms: Int32


@struct
class DeletableTopicResult:
    name: str | None = since(0, nullable_from=6)
    topic_id: Uuid = since(6, default=NO_UUID, ignorable=True)
    error_code: Int16
    error_message: str | None = since(5, default=None, ignorable=True)


@message(api_key=20, versions=range(0, 7), flexible_from=4)
class DeleteTopicsResponse:
    throttle_time_ms: Int32 = since(1, default=0, ignorable=True)
    responses: list[DeletableTopicResult]
