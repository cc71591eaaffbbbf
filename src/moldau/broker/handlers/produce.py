"""Produce (key 0): append batches, answer when as many replicas have them as was asked for."""

from typing import TYPE_CHECKING

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.net.answer import CloseConnection, Later
from moldau.protocol.messages.produce import (
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
    produce: Produce = produces.Produce(request, context, broker)
    async for rest in context.each(produce.appends()):
        if rest is not None:
            await rest
    if request.acks == 0:
        if produce.has_failed:
            raise CloseConnection(_reason(produce.response))
        return None
    if produce.waiting:
        # Others may append meanwhile: only the answer depends on the replicas.
        return Later(_after_replicas(produce, context))
    return await context.turns.finish(produce.hinting())


async def refuse(request: ProduceRequest, context: Context, error: KafkaError) -> ProduceResponse:
    """The same error for every partition."""
    if request.acks == 0:
        raise CloseConnection(f"{error.code.name} with acks=0")
    topics = []
    async for topic in context.each(request.topic_data):
        responses = []
        async for data in context.each(topic.partition_data):
            response = produces.new_response(data.index)
            produces.refuse(response, error)
            responses.append(response)
        topics.append(TopicProduceResponse(name=topic.name, partition_responses=responses))
    return ProduceResponse(responses=topics)


async def _after_replicas(produce: "Produce", context: Context) -> ProduceResponse:
    await produce.until_replicas()
    return await context.turns.finish(produce.hinting())


def _reason(response: ProduceResponse) -> str:
    """Why the connection is closed: the only way to tell a producer that wants no answer."""
    topic, partition = next(
        (topic, partition)
        for topic in response.responses
        for partition in topic.partition_responses
        if partition.error_code != ErrorCode.NONE
    )
    code = ErrorCode(partition.error_code).name
    return f"{topic.name}-{partition.index}: {code} with acks=0"
