"""Topics: created, grown, described and deleted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from moldau.client.admin.area import AdminArea, names
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.places import Anywhere, AtController
from moldau.client.admin.routing import Answers, outcome
from moldau.client.connection.topic_inquiry import METADATA, TopicInquiry
from moldau.errors import ErrorCode, KafkaError
from moldau.model import format_uuid
from moldau.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from moldau.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from moldau.protocol.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from moldau.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic
from moldau.protocol.primitives import NO_UUID
from moldau.security.acls import Operation, operations_of

BY_DEFAULT = -1
_DELETE_TOPICS = 20
_DELETE_BY_STATE = 6


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to be created; what is not said is as the brokers' defaults say."""

    name: str
    partitions: int = BY_DEFAULT
    replication_factor: int = BY_DEFAULT
    replicas: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Brokers by partition, instead of the two numbers."""
    configs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewPartitions:
    """How many partitions a topic shall have, and optionally where the new ones are."""

    total: int
    replicas: Sequence[Sequence[int]] | None = None


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """What was created; numbers are -1 and the id is None where old brokers do not say."""

    name: str
    topic_id: str | None
    partitions: int
    replication_factor: int
    configs: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class TopicListing:
    """A topic that there is."""

    name: str
    topic_id: str | None
    is_internal: bool


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """The replicas of a partition; the leader is -1 if there is none."""

    partition: int
    leader: int
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    offline_replicas: list[int]


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic with its partitions."""

    name: str
    topic_id: str | None
    is_internal: bool
    partitions: list[PartitionDescription]
    authorized_operations: frozenset[Operation] | None


class TopicsArea(AdminArea):
    """The part of the Admin client for topics."""

    async def create_topics(
        self, topics: Iterable[NewTopic | str], *, validate_only: bool = False
    ) -> Outcomes[str, CreatedTopic]:
        """Create topics; with `validate_only` it is only said what would happen."""
        router = self._router
        wanted = {each.name: each for each in map(_as_new_topic, topics)}

        async def ask(node_id: int, keys: list[str]) -> Answers[str, CreatedTopic]:
            request = CreateTopicsRequest(
                topics=[_creatable(wanted[name]) for name in keys],
                timeout_ms=router.settings.request_timeout_ms,
                validate_only=validate_only,
            )
            answer = await router.cluster.ask(node_id, request, CreateTopicsResponse)
            return {
                each.name: outcome(
                    each.error_code,
                    CreatedTopic(
                        each.name,
                        _topic_id(each.topic_id),
                        each.num_partitions,
                        each.replication_factor,
                        {config.name: config.value for config in each.configs or ()},
                    ),
                    each.error_message,
                )
                for each in answer.topics
            }

        return await router.each(wanted, AtController[str](router.cluster), ask)

    async def delete_topics(self, topics: str | Iterable[str]) -> Outcomes[str, None]:
        """Delete topics with all their records."""
        router = self._router

        async def ask(node_id: int, keys: list[str]) -> Answers[str, None]:
            broker = await router.cluster.broker(node_id)
            is_by_state = broker.versions.newest(_DELETE_TOPICS) >= _DELETE_BY_STATE
            states = [DeleteTopicState(name=name, topic_id=NO_UUID) for name in keys]
            request = DeleteTopicsRequest(
                topics=states if is_by_state else [],
                topic_names=[] if is_by_state else keys,
                timeout_ms=router.settings.request_timeout_ms,
            )
            answer = await router.cluster.ask(node_id, request, DeleteTopicsResponse)
            return {
                each.name: outcome(each.error_code, None, each.error_message)
                for each in answer.responses
                if each.name is not None
            }

        return await router.each(names(topics), AtController[str](router.cluster), ask)

    async def create_partitions(
        self, totals: Mapping[str, int | NewPartitions], *, validate_only: bool = False
    ) -> Outcomes[str, None]:
        """Let topics have more partitions; the numbers are what they shall have then."""
        router = self._router

        async def ask(node_id: int, keys: list[str]) -> Answers[str, None]:
            request = CreatePartitionsRequest(
                topics=[_growth(name, totals[name]) for name in keys],
                timeout_ms=router.settings.request_timeout_ms,
                validate_only=validate_only,
            )
            answer = await router.cluster.ask(node_id, request, CreatePartitionsResponse)
            return {
                each.name: outcome(each.error_code, None, each.error_message)
                for each in answer.results
            }

        return await router.each(totals, AtController[str](router.cluster), ask)

    async def list_topics(self, *, include_internal: bool = False) -> dict[str, TopicListing]:
        """The topics that there are; those of the brokers themselves only if asked for."""
        answer = await self._ask_metadata(None)
        found = [
            TopicListing(each.name, _topic_id(each.topic_id), each.is_internal)
            for each in answer.topics
            if each.name is not None and (include_internal or not each.is_internal)
        ]
        return {each.name: each for each in sorted(found, key=lambda each: each.name)}

    async def describe_topics(self, topics: str | Iterable[str]) -> Outcomes[str, TopicDescription]:
        """Partitions and replicas of topics."""
        wanted = names(topics)
        answer = await self._ask_metadata(wanted)
        found = {each.name: _described(each) for each in answer.topics if each.name is not None}
        missing = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return Outcomes({name: found.get(name, missing) for name in wanted})

    async def describe_all_topics(self) -> Outcomes[str, TopicDescription]:
        """Partitions and replicas of all topics that there are, by one request.

        Operations that are allowed are left out.
        """
        answer = await self._ask_metadata(None)
        found = {each.name: _described(each) for each in answer.topics if each.name is not None}
        return Outcomes(dict(sorted(found.items())))

    async def _ask_metadata(self, topics: list[str] | None) -> MetadataResponse:
        cluster = self._router.cluster
        inquiry = TopicInquiry(topics)

        async def ask(node_id: int, keys: list[str]) -> Answers[str, MetadataResponse]:
            version = (await cluster.broker(node_id)).versions.newest(METADATA)
            request = inquiry.request(version)
            request.include_topic_authorized_operations = version >= 8 and topics is not None
            answer = await cluster.ask(node_id, request, MetadataResponse)
            return dict.fromkeys(keys, inquiry.narrow(answer, version))

        return (await self._router.each([""], Anywhere[str](cluster), ask))[""]


def _as_new_topic(topic: NewTopic | str) -> NewTopic:
    return NewTopic(topic) if isinstance(topic, str) else topic


def _creatable(topic: NewTopic) -> CreatableTopic:
    return CreatableTopic(
        name=topic.name,
        num_partitions=topic.partitions,
        replication_factor=topic.replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=partition, broker_ids=list(brokers))
            for partition, brokers in topic.replicas.items()
        ],
        configs=[
            CreatableTopicConfig(name=name, value=value) for name, value in topic.configs.items()
        ],
    )


def _growth(name: str, wanted: int | NewPartitions) -> CreatePartitionsTopic:
    growth = NewPartitions(wanted) if isinstance(wanted, int) else wanted
    assignments = None
    if growth.replicas is not None:
        assignments = [
            CreatePartitionsAssignment(broker_ids=list(each)) for each in growth.replicas
        ]
    return CreatePartitionsTopic(name=name, count=growth.total, assignments=assignments)


def _described(topic: MetadataResponseTopic) -> TopicDescription | KafkaError:
    assert topic.name is not None
    partitions = [
        PartitionDescription(
            each.partition_index,
            each.leader_id,
            each.leader_epoch,
            each.replica_nodes,
            each.isr_nodes,
            each.offline_replicas,
        )
        for each in topic.partitions
    ]
    description = TopicDescription(
        topic.name,
        _topic_id(topic.topic_id),
        topic.is_internal,
        sorted(partitions, key=lambda each: each.partition),
        operations_of(topic.topic_authorized_operations),
    )
    code = ErrorCode(topic.error_code)
    return outcome(code, description, f"{topic.name}: {code.name}")


def _topic_id(uuid: bytes) -> str | None:
    return None if uuid == NO_UUID else format_uuid(uuid)
