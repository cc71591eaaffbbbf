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
from moldau.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from moldau.protocol.primitives import NO_UUID
from moldau.security.acls import Operation, ResourceType

_DISABLED_SINCE = 3
_STRICT_SINCE = 5


async def handle(
    request: DeleteTopicsRequest, context: Context, broker: Broker
) -> DeleteTopicsResponse:
    broker.controller.require_office()
    if not broker.config.general.delete_topic_enable:
        is_known = context.api_version >= _DISABLED_SINCE
        code = ErrorCode.TOPIC_DELETION_DISABLED if is_known else ErrorCode.INVALID_REQUEST
        raise KafkaError(code)
    results = [_find(state, context, broker) async for state in context.each(_states(request))]
    doomed = {
        result.name: result
        for result in results
        if result.name is not None and result.error_code == ErrorCode.NONE
    }
    permits = broker.quotas.permits(context, is_strict=context.api_version >= _STRICT_SINCE)
    for name, result in doomed.items():
        try:
            known = broker.metadata.image.topics.get(name)
            permits.take(0 if known is None else len(known.partitions))
        except KafkaError as error:
            result.error_code = error.code
    cause = f"asked for by {context.who}"
    allowed = [result for result in doomed.values() if result.error_code == ErrorCode.NONE]
    await asyncio.gather(*(_mark(result, broker, cause) for result in allowed))
    marked = [name for name, result in doomed.items() if result.error_code == ErrorCode.NONE]
    timeout_s = request.timeout_ms / 1000
    for name in await broker.topics.until_all_gone(marked, timeout_s=timeout_s):
        doomed[name].error_code = ErrorCode.REQUEST_TIMED_OUT
    # Gone for clients; who creates them anew needs them gone from the tree, too.
    await broker.waiters.until(
        lambda: not any(map(broker.controller.is_deleting, marked)),
        keys=marked,
        timeout_s=timeout_s,
        operation="topic",
    )
    return DeleteTopicsResponse(responses=results, throttle_time_ms=permits.throttle_ms)


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


def _find(state: DeleteTopicState, context: Context, broker: Broker) -> DeletableTopicResult:
    if state.name is not None and state.topic_id != NO_UUID:
        message = "Topic name and topic ID can not both be specified."
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    image, may = broker.metadata.image, broker.authorizer.may
    name, topic_id = state.name, state.topic_id
    code = ErrorCode.NONE if name or topic_id != NO_UUID else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if topic_id != NO_UUID:
        name = image.names_by_id.get(topic_id)
        if name is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID
        elif not may(context, Operation.DESCRIBE, ResourceType.TOPIC, name):
            # Who has come by an id does not learn the name.
            name, code = None, ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if name is not None:
        if not may(context, Operation.DELETE, ResourceType.TOPIC, name):
            code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif name not in image.topics:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return DeletableTopicResult(name=name, topic_id=topic_id, error_code=code)


async def _mark(result: DeletableTopicResult, broker: Broker, cause: str) -> None:
    assert result.name is not None
    try:
        await broker.topics.delete(result.name, cause=cause)
    except KafkaError as error:
        result.error_code = error.code
        result.error_message = error.message
