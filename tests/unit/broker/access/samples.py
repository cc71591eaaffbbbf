"""A request of every API that asks for something by name, whether it exists or not."""

from collections.abc import Callable, Iterator
from typing import Any

from moldau.broker.access.requirements import REQUIREMENTS, Hidden
from moldau.broker.routes import ROUTES
from moldau.protocol.messages.create_acls import AclCreation
from moldau.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from moldau.protocol.primitives import NO_UUID
from moldau.protocol.schema import Field, fields_of
from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.record import Record
from unit.broker.access_world import AskingAs
from unit.broker.sample_requests import as_follower, fetch, fetch_partition, produce
from unit.broker.transaction_client import Client as TransactionClient
from unit.broker.transaction_client import find_coordinators
from unit.broker.world import START_MS, World, batch_of

THERE, MISSING = "there-is", "there-is-not"
_VERSIONS = {route.name: route.versions for route in ROUTES}
_REQUESTS = {route.name: route.api.request for route in ROUTES}
_OTHER_TESTS = {"CreateDelegationToken", "DescribeDelegationToken"}
"""APIs that ask for something else before any right: see their own tests."""

Tweak = Callable[[Any, str], None]


def lines() -> Iterator[tuple[str, int]]:
    """The lines of the table of rights: an API that is served, and a number."""
    for api, requirements in REQUIREMENTS.items():
        if api in _VERSIONS and api not in _OTHER_TESTS:
            for number in range(len(requirements)):
                yield api, number


def names_of(api: str, number: int) -> tuple[str, ...]:
    """Where a line of the table can be seen: what is left out must be there, for one."""
    if (api, number) in (("Metadata", 2), ("CreateTopics", 1)):
        return (MISSING,)
    if (api, number) == ("OffsetDelete", 1):
        return (THERE,)  # of a group that is not there, nothing is told of topics
    hidden = REQUIREMENTS[api][number].denied is Hidden.LEFT_OUT
    return (THERE,) if hidden else (THERE, MISSING)


async def make_things(world: World, root: Any) -> None:
    """A topic, a group with an offset, and a transaction in which that topic is."""
    await world.create_topic(THERE)
    world.append(THERE, b"x")
    world_of_root: Any = AskingAs(world, root)
    await find_coordinators(world_of_root)
    commit = OffsetCommitRequest(
        group_id=THERE,
        topics=[
            OffsetCommitRequestTopic(
                name=THERE,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=0, committed_offset=1, committed_metadata=""
                    )
                ],
            )
        ],
    )
    await world.ask(commit, 5, client=root)
    producer = TransactionClient(world_of_root, THERE)
    assert await producer.init() == 0
    adding = named(_REQUESTS["AddPartitionsToTxn"], 3, THERE)
    adding.v3_and_below_producer_id, adding.v3_and_below_producer_epoch = producer.identity
    await world.ask(adding, 3, client=root)


def sample(api: str, number: int, name: str) -> tuple[Any, int]:
    """A request that needs what a line of the table says, and its version."""
    allowed = REQUIREMENTS[api][number].versions
    version = max(one for one in _VERSIONS[api] if one in allowed)
    special = _SPECIAL.get((api, number))
    if special is not None:
        return special(name)
    request = named(_REQUESTS[api], version, name)
    for tweak in (_TWEAKS.get(api), _TWEAKS.get(f"{api} {number}")):
        if tweak is not None:
            tweak(request, name)
    return request, version


def named(kind: type, version: int, name: str) -> Any:
    """A message with the name wherever it has a text, and one element in each list."""
    message: Any = object.__new__(kind)
    for field in fields_of(kind):
        value = field.default
        if field.is_in(version) and field.tag is None:
            value = _value(field, version, name)
        setattr(message, field.name, list(value) if isinstance(value, list) else value)
    return message


def _value(field: Field, version: int, name: str) -> Any:
    if field.struct is not None:
        value = named(field.struct, version, name)
    elif field.primitive is not None and field.primitive.zero == "":
        value = name
    elif field.is_array:
        value = 0
    else:
        return field.default
    return [value] if field.is_array else value


def _setting(**values: Any) -> Tweak:
    def tweak(request: Any, name: str) -> None:
        for field, value in values.items():
            setattr(request, field, value(name) if callable(value) else value)

    return tweak


def _empty(_name: str) -> list[object]:
    return []


def _in_first(items: str, **values: Any) -> Tweak:
    def tweak(request: Any, name: str) -> None:
        _setting(**values)(getattr(request, items)[0], name)

    return tweak


def _transactional(name: str) -> tuple[Any, int]:
    batch = write_batch(
        [Record(0, START_MS, None, b"x", ())],
        producer=Producer(4, 0, 0),
        attributes=TRANSACTIONAL,
    )
    request = produce(batch, topic=name)
    request.transactional_id = name
    return request, 11


def _creation(request: Any, name: str) -> None:
    request.creations = [
        AclCreation(
            resource_type=2,
            resource_name=name,
            principal="User:x",
            host="*",
            operation=3,
            permission_type=3,
        )
    ]


_ANYTHING = {
    "resource_type_filter": 1,
    "pattern_type_filter": 1,
    "operation": 1,
    "permission_type": 1,
}
_OF_BROKER = {"resource_type": 4, "resource_name": "0"}
_SPECIAL: dict[tuple[str, int], Callable[[str], tuple[Any, int]]] = {
    ("Produce", 0): lambda name: (produce(batch_of(b"x"), topic=name), 11),
    ("Produce", 1): _transactional,
    ("Fetch", 0): lambda name: (fetch(fetch_partition(), topic=name), 12),
    ("Fetch", 1): lambda name: (as_follower(fetch(fetch_partition(), topic=name), 5, 12), 12),
}
_TWEAKS: dict[str, Tweak] = {
    "Metadata": _in_first("topics", topic_id=NO_UUID),
    "Metadata 0": _setting(allow_auto_topic_creation=False),
    "Metadata 1": _setting(topics=None),
    "Metadata 2": _setting(allow_auto_topic_creation=True),
    "Metadata 3": _setting(
        include_cluster_authorized_operations=True, allow_auto_topic_creation=False
    ),
    "ControlledShutdown": _setting(broker_id=99),
    "AllocateProducerIds": _setting(broker_id=99),
    "OffsetFetch 0": _in_first("groups", member_id=None),
    "OffsetFetch 1": _in_first("groups", member_id=None),
    "OffsetFetch 2": _in_first("groups", member_id=None, topics=None),
    "FindCoordinator 1": _setting(key_type=1),
    "JoinGroup": _setting(session_timeout_ms=10_000, rebalance_timeout_ms=10_000),
    "ListGroups": _setting(states_filter=_empty, types_filter=_empty),
    "CreateTopics": _setting(validate_only=True),
    "DeleteTopics": _setting(timeout_ms=1_000),
    "InitProducerId": _setting(transaction_timeout_ms=60_000),
    "InitProducerId 1": _setting(transactional_id=None),
    "DescribeAcls": _setting(**_ANYTHING),
    "DeleteAcls": _in_first("filters", **_ANYTHING),
    "CreateAcls": _creation,
    "DescribeConfigs": _in_first("resources", configuration_keys=None),
    "DescribeConfigs 0": _in_first("resources", resource_type=2),
    "DescribeConfigs 1": _in_first("resources", **_OF_BROKER),
    "AlterConfigs": _in_first("resources", configs=_empty),
    "AlterConfigs 0": _in_first("resources", resource_type=2),
    "AlterConfigs 1": _in_first("resources", **_OF_BROKER),
    "IncrementalAlterConfigs": _in_first("resources", configs=_empty),
    "IncrementalAlterConfigs 0": _in_first("resources", resource_type=2),
    "IncrementalAlterConfigs 1": _in_first("resources", **_OF_BROKER),
    "DescribeLogDirs": _setting(topics=None),
    "CreatePartitions": _setting(validate_only=True),
    "DescribeClientQuotas": _setting(components=_empty),
    "AlterClientQuotas": _setting(validate_only=True),
    "DescribeCluster": _setting(include_cluster_authorized_operations=True, endpoint_type=1),
    "ListTransactions": _setting(state_filters=_empty, producer_id_filters=_empty),
    "DescribeTopicPartitions": _setting(cursor=None),
    "DescribeTopicPartitions 1": _setting(topics=_empty),
}


def _plain_topic(request: Any, name: str) -> None:
    _setting(num_partitions=1, replication_factor=1, assignments=_empty, configs=_empty)(
        request.topics[0], name
    )
    request.validate_only = True


def _grown(request: Any, name: str) -> None:
    _setting(count=2, assignments=None)(request.topics[0], name)
    request.validate_only = True


def _by_name(request: Any, name: str) -> None:
    request.topics[0].topic_id = NO_UUID
    request.timeout_ms = 1_000


_TWEAKS |= {"CreateTopics": _plain_topic, "CreatePartitions": _grown, "DeleteTopics": _by_name}
