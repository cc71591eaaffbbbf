"""What administrators ask of a cluster, however long it takes until it is done."""

from collections.abc import Mapping, Sequence

from moldau.config.alteration import AlterOperation
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
    RequestEntryData,
)
from moldau.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from moldau.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from moldau.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from moldau.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from moldau.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from simulation.client import Client, insist, require
from simulation.shapes import Shape

_TIMEOUT_MS = 10_000
_TOPIC_RESOURCE = 2


class Admin:
    """Asks one broker after the other until one is the controller and has done it."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def create(
        self, topic: str, shape: Shape, configs: Mapping[str, str] | None = None
    ) -> None:
        """Create a topic; one of that name that is there already is as good."""
        settings = {"min.insync.replicas": str(shape.in_sync_min), **(configs or {})}
        wanted = CreatableTopic(
            name=topic,
            num_partitions=shape.partition_count,
            replication_factor=shape.replication_factor,
            assignments=[],
            configs=[CreatableTopicConfig(name=name, value=settings[name]) for name in settings],
        )
        request = CreateTopicsRequest(topics=[wanted], timeout_ms=_TIMEOUT_MS)

        async def create() -> None:
            answer = await self.client.ask_any(request, CreateTopicsResponse, 5)
            _require_unless(answer.topics[0].error_code, [ErrorCode.TOPIC_ALREADY_EXISTS])

        await insist(create, self.client)

    async def set(self, topic: str, name: str, value: str | None) -> None:
        """Give a setting of a topic a value, or with None the one that brokers have."""
        operation = AlterOperation.DELETE if value is None else AlterOperation.SET
        config = AlterableConfig(name=name, config_operation=operation, value=value)
        resource = AlterConfigsResource(
            resource_type=_TOPIC_RESOURCE, resource_name=topic, configs=[config]
        )
        request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)

        async def alter() -> None:
            answer = await self.client.ask_any(request, IncrementalAlterConfigsResponse, 1)
            require(answer.responses[0].error_code)

        await insist(alter, self.client)

    async def limit_all(self, quota: str, value: float | None) -> None:
        """Give every client id a quota of its own, or with None take it away."""
        everybody = EntityData(entity_type="client-id", entity_name=None)
        change = OpData(key=quota, value=value or 0.0, remove=value is None)
        entry = RequestEntryData(entity=[everybody], ops=[change])
        request = AlterClientQuotasRequest(entries=[entry], validate_only=False)

        async def alter() -> None:
            answer = await self.client.ask_any(request, AlterClientQuotasResponse, 1)
            require(answer.entries[0].error_code)

        await insist(alter, self.client)

    async def grow(self, topic: str, partition_count: int) -> None:
        """Let a topic have so many partitions."""
        wanted = CreatePartitionsTopic(name=topic, count=partition_count, assignments=None)
        request = CreatePartitionsRequest(
            topics=[wanted], timeout_ms=_TIMEOUT_MS, validate_only=False
        )

        async def grow() -> None:
            answer = await self.client.ask_any(request, CreatePartitionsResponse, 3)
            # That is what is said of a topic that has as many already.
            _require_unless(answer.results[0].error_code, [ErrorCode.INVALID_PARTITIONS])

        await insist(grow, self.client)

    async def delete(self, topic: str) -> None:
        """Delete a topic; it may take longer until nothing is left of it."""
        request = DeleteTopicsRequest(topic_names=[topic], timeout_ms=_TIMEOUT_MS)

        async def delete() -> None:
            answer = await self.client.ask_any(request, DeleteTopicsResponse, 5)
            gone = [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
            _require_unless(answer.responses[0].error_code, gone)

        await insist(delete, self.client)

    async def move(self, partition: TopicPartition, replicas: Sequence[int] | None) -> None:
        """Begin to move a partition to other brokers; None gives up a move that is under way."""
        wanted = ReassignablePartition(
            partition_index=partition.partition,
            replicas=None if replicas is None else list(replicas),
        )
        topic = ReassignableTopic(name=partition.topic, partitions=[wanted])
        request = AlterPartitionReassignmentsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS)

        async def move() -> None:
            answer = await self.client.ask_any(request, AlterPartitionReassignmentsResponse, 0)
            require(answer.error_code)
            ((result,),) = (found.partitions for found in answer.responses)
            _require_unless(result.error_code, [ErrorCode.NO_REASSIGNMENT_IN_PROGRESS])

        await insist(move, self.client)


def _require_unless(error_code: int, as_good: Sequence[ErrorCode]) -> None:
    if error_code not in as_good:
        require(error_code)
