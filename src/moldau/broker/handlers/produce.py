"""Produce (key 0): append batches, answer when as many replicas have them as was asked for.

Version 1 reports the throttle time; 2 the append time (KIP-32); 3 takes format 2 only, and a
transactional id (KIP-98); 4 allows KAFKA_STORAGE_ERROR; 5 reports the log start offset; in 6 the
client waits out the throttle time (KIP-219); 7 allows zstd (KIP-110); 8 names bad records
(KIP-467); 9 is flexible; 10 has leader hints (KIP-951); 11 allows TRANSACTION_ABORTABLE (KIP-890).
"""

from typing import TYPE_CHECKING

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.requests.produce_response import put_error
from moldau.errors import KafkaError
from moldau.net.answer import CloseConnection, Later
from moldau.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.broker.requests import produce as produces
    from moldau.broker.requests.produce import Produce
else:
    produces = native.kernel("moldau.broker.requests._produce", "moldau.broker.requests.produce")


async def handle(
    request: ProduceRequest, context: Context, broker: Broker
) -> ProduceResponse | Later | None:
    produce: Produce = produces.Produce(
        broker, context, request.acks, request.timeout_ms, request.transactional_id
    )
    if broker.authorizer.is_enforcing:
        produce.require_right(
            data.records for topic in request.topic_data for data in topic.partition_data
        )
    produce.request_size = context.request_size
    async for topic in context.each(request.topic_data):
        produce.begin_topic(topic.name)
        async for data in context.each(topic.partition_data):
            rest = produce.append(data.index, data.records)
            if rest is not None:
                await rest
    if request.acks == 0:
        if produce.has_failed:
            raise CloseConnection(_reason(produce))
        throttle_ms = produce.throttle_ms()
        if throttle_ms:
            context.client.mute(throttle_ms)
        return None
    if produce.waiting:
        # Others may append meanwhile: only the answer depends on the replicas.
        return Later(_after_replicas(produce, context))
    return await _response(produce, context)


async def refuse(request: ProduceRequest, context: Context, error: KafkaError) -> ProduceResponse:
    """The same error for every partition."""
    if request.acks == 0:
        raise CloseConnection(f"{error.code.name} with acks=0")
    topics = []
    async for topic in context.each(request.topic_data):
        responses = []
        async for data in context.each(topic.partition_data):
            response = PartitionProduceResponse(
                index=data.index, error_code=error.code, base_offset=-1
            )
            put_error(response, error)
            responses.append(response)
        topics.append(TopicProduceResponse(name=topic.name, partition_responses=responses))
    return ProduceResponse(responses=topics)


async def _after_replicas(produce: "Produce", context: Context) -> ProduceResponse:
    await produce.until_replicas()
    return await _response(produce, context)


async def _response(produce: "Produce", context: Context) -> ProduceResponse:
    response = await context.turns.finish(produce.responding())
    response.throttle_time_ms = produce.throttle_ms()
    return response


def _reason(produce: "Produce") -> str:
    """Why the connection is closed: the only answer for a producer that wants none."""
    return next(
        f"{topic}-{outcome.index}: {outcome.error.code.name} with acks=0"
        for topic, outcomes in produce.topics
        for outcome in outcomes
        if outcome.error is not None
    )
