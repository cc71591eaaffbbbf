"""ElectLeaders (key 43): elect preferred leaders, or any where there is none.

Version 1 adds the type of election, where 0 has only preferred leaders, and an error for the whole
answer (KIP-460); 2 is flexible.
"""

from collections.abc import Iterator

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import PartitionImage
from moldau.model import TopicPartition
from moldau.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from moldau.security.acls import Operation

PREFERRED = 0
UNCLEAN = 1


async def handle(
    request: ElectLeadersRequest, context: Context, broker: Broker
) -> ElectLeadersResponse:
    broker.authorizer.require(context, Operation.ALTER)
    broker.controller.require_office()
    if request.election_type not in (PREFERRED, UNCLEAN):
        message = f"there is no election of type {request.election_type}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    errors: dict[TopicPartition, KafkaError | None] = {}
    async for name in context.each(_asked(request, broker)):
        try:
            _require_need(name, request.election_type, broker)
        except KafkaError as error:
            errors[name] = error.kept()
        else:
            errors[name] = None
    wanted = [name for name, error in errors.items() if error is None]
    errors |= await _elect(wanted, request, broker)
    if request.topic_partitions is None:
        errors = {name: error for name, error in errors.items() if not _is_not_needed(error)}
    return await _response(errors, ErrorCode.NONE, context)


async def refuse(
    request: ElectLeadersRequest, context: Context, error: KafkaError
) -> ElectLeadersResponse:
    errors: dict[TopicPartition, KafkaError | None] = {
        TopicPartition(topic.topic, number): error
        async for topic in context.each(request.topic_partitions or [])
        async for number in context.each(topic.partitions)
    }
    # Version 0 has no error of its own.
    code = error.code if context.api_version > 0 else ErrorCode.NONE
    return await _response(errors, code, context)


def _asked(request: ElectLeadersRequest, broker: Broker) -> Iterator[TopicPartition]:
    if request.topic_partitions is None:
        for known in broker.metadata.image.topics.values():
            for number in known.partitions:
                yield TopicPartition(known.name, number)
    else:
        for topic in request.topic_partitions:
            for number in topic.partitions:
                yield TopicPartition(topic.topic, number)


def _require_need(name: TopicPartition, election_type: int, broker: Broker) -> None:
    """Raise unless there is a partition that another leader is wanted for."""
    image = broker.metadata.image
    found = image.partition(name.topic, name.partition)
    if found is None:
        message = "The partition does not exist."
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    is_led = found.leader in image.brokers
    if is_led and (election_type == UNCLEAN or _is_led_as_preferred(found)):
        message = "Leader election not needed for topic partition."
        raise KafkaError(ErrorCode.ELECTION_NOT_NEEDED, message)


async def _elect(
    names: list[TopicPartition], request: ElectLeadersRequest, broker: Broker
) -> dict[TopicPartition, KafkaError]:
    """Elect, and wait until this broker knows; returns why some could not be elected."""
    if not names:
        return {}
    is_unclean = request.election_type == UNCLEAN
    failed = await broker.controller.perform(
        lambda term: (
            term.elections.unclean(names) if is_unclean else term.elections.preferred(names)
        )
    )
    elected = [name for name in names if name not in failed]

    def are_elected() -> bool:
        image = broker.metadata.image
        found = [image.partition(name.topic, name.partition) for name in elected]
        return all(
            one is None
            or (one.leader in image.brokers and (is_unclean or _is_led_as_preferred(one)))
            for one in found
        )

    topics = {name.topic for name in elected}
    if not await broker.waiters.until(
        are_elected, keys=topics, timeout_s=request.timeout_ms / 1000, operation="ElectLeader"
    ):
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)
    return {name: _unavailable(name, is_unclean=is_unclean) for name in failed}


def _unavailable(name: TopicPartition, *, is_unclean: bool) -> KafkaError:
    if is_unclean:
        message = f"no replica of {name} is alive"
        return KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, message)
    message = f"the preferred leader of {name} is not in sync"
    return KafkaError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, message)


def _is_led_as_preferred(partition: PartitionImage) -> bool:
    return partition.leader == partition.replicas[0]


def _is_not_needed(error: KafkaError | None) -> bool:
    return error is not None and error.code == ErrorCode.ELECTION_NOT_NEEDED


async def _response(
    errors: dict[TopicPartition, KafkaError | None], code: ErrorCode, context: Context
) -> ElectLeadersResponse:
    topics: dict[str, ReplicaElectionResult] = {}
    async for name, error in context.each(errors.items()):
        topic = topics.setdefault(
            name.topic, ReplicaElectionResult(topic=name.topic, partition_result=[])
        )
        topic.partition_result.append(
            PartitionResult(
                partition_id=name.partition,
                error_code=ErrorCode.NONE if error is None else error.code,
                error_message=None if error is None else error.message,
            )
        )
    return ElectLeadersResponse(
        throttle_time_ms=0, error_code=code, replica_election_results=list(topics.values())
    )
