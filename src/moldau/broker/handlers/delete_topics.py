"""DeleteTopics (key 20): delete topics, by name or by id.

Version 1 reports the throttle time; in 2 the client waits it out (KIP-219); 3 allows
TOPIC_DELETION_DISABLED (KIP-322); 4 is flexible; 5 adds error messages, and allows
THROTTLING_QUOTA_EXCEEDED (KIP-599); 6 takes topic ids (KIP-516).
"""

import asyncio
from collections.abc import Iterator

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import ClusterImage
from moldau.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from moldau.protocol.primitives import NO_UUID

_DISABLED_SINCE = 3


async def handle(
    request: DeleteTopicsRequest, context: Context, broker: Broker
) -> DeleteTopicsResponse:
    broker.controller.require_office()
    if not broker.config.general.delete_topic_enable:
        is_known = context.api_version >= _DISABLED_SINCE
        code = ErrorCode.TOPIC_DELETION_DISABLED if is_known else ErrorCode.INVALID_REQUEST
        raise KafkaError(code)
    image = broker.metadata.image
    results = [_find(state, image) async for state in context.each(_states(request))]
    doomed = {
        result.name: result
        for result in results
        if result.name is not None and result.error_code == ErrorCode.NONE
    }
    cause = f"asked for by {context.who}"
    await asyncio.gather(*(_mark(result, broker, cause) for result in doomed.values()))
    marked = [name for name, result in doomed.items() if result.error_code == ErrorCode.NONE]
    timeout_s = request.timeout_ms / 1000
    for name in await broker.topics.until_all_gone(marked, timeout_s=timeout_s):
        doomed[name].error_code = ErrorCode.REQUEST_TIMED_OUT
    # Gone for clients; whoever creates them anew needs them gone from the tree, too.
    await broker.waiters.until(
        lambda: not any(map(broker.controller.is_deleting, marked)),
        keys=marked,
        timeout_s=timeout_s,
        operation="topic",
    )
    return DeleteTopicsResponse(responses=results)


async def refuse(
    request: DeleteTopicsRequest, context: Context, error: KafkaError
) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(
                name=state.name,
                topic_id=state.topic_id,
                error_code=error.code,
                error_message=error.message,
            )
            async for state in context.each(_states(request))
        ]
    )


def _states(request: DeleteTopicsRequest) -> Iterator[DeleteTopicState]:
    for name in request.topic_names:
        yield DeleteTopicState(name=name, topic_id=NO_UUID)
    yield from request.topics


def _find(state: DeleteTopicState, image: ClusterImage) -> DeletableTopicResult:
    if state.name is not None and state.topic_id != NO_UUID:
        message = "Topic name and topic ID can not both be specified."
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    name = state.name
    code = ErrorCode.NONE
    if state.topic_id != NO_UUID:
        name = image.names_by_id.get(state.topic_id)
        if name is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID
    elif name not in image.topics:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return DeletableTopicResult(name=name, topic_id=state.topic_id, error_code=code)


async def _mark(result: DeletableTopicResult, broker: Broker, cause: str) -> None:
    assert result.name is not None
    try:
        await broker.topics.delete(result.name, cause=cause)
    except KafkaError as error:
        result.error_code = error.code
        result.error_message = error.message
