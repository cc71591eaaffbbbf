"""How far groups are: shown, set, forgotten."""

import itertools

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.group_offsets import CommittedOffset
from moldau.errors import (
    ErrorCode,
    GroupIdNotFound,
    KafkaError,
    TopicAuthorizationFailed,
    UnknownMemberId,
    UnknownTopicOrPartition,
)
from moldau.model import TopicPartition
from moldau.protocol.messages.find_coordinator import FindCoordinatorResponse
from moldau.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail, Respond
from unit.client.admin.answering import Answering, admin_of
from unit.client.group.members import QUICK_GROUPS, member_of, settle

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return QUICK_GROUPS


async def test_what_is_set_is_shown(admin: Admin) -> None:
    await admin.create_topics(["t"])
    wanted: dict[TopicPartition, int | CommittedOffset] = {T0: 5, T1: CommittedOffset(6, "why", 0)}
    (await admin.alter_group_offsets("g", wanted)).check()
    found = await admin.list_group_offsets(["g", "h"], require_stable=True)
    assert found["g"] == {T0: CommittedOffset(5), T1: CommittedOffset(6, "why", 0)}
    assert found["h"] == {}
    assert (await admin.list_group_offsets({"g": [T0]}))["g"] == {T0: CommittedOffset(5)}
    assert (await admin.list_group_offsets("g"))["g"][T1].offset == 6


async def test_many_groups_are_asked_for_by_few_requests(
    admin: Admin, kafka: EmbeddedBroker
) -> None:
    await admin.create_topics(["t"])
    names = [f"g{number}" for number in range(1200)]
    for name in names[::100]:
        (await admin.alter_group_offsets(name, {T0: 5})).check()
    asked: list[str] = []
    for api in ("FindCoordinator", "OffsetFetch"):
        kafka.control(api, lambda _, api=api: asked.append(api))  # type: ignore[misc]
    found = await admin.list_group_offsets(names)
    assert {name for name, offsets in found.succeeded.items() if offsets} == set(names[::100])
    assert found[names[100]] == {T0: CommittedOffset(5)}
    assert (asked.count("FindCoordinator"), asked.count("OffsetFetch")) == (2, 3)
    both = await admin.list_group_offsets({"g0": [T0], "g1": [T1]}, require_stable=True)
    assert (both["g0"], both["g1"]) == ({T0: CommittedOffset(5)}, {})


async def test_older_brokers_are_asked_group_by_group() -> None:
    def where(_: object) -> FindCoordinatorResponse:
        return FindCoordinatorResponse(
            node_id=1, host=broker.address.host, port=broker.address.port
        )

    def read(request: OffsetFetchRequest) -> OffsetFetchResponse:
        partition = OffsetFetchResponsePartition(
            partition_index=0, committed_offset=int(request.group_id), metadata="", error_code=0
        )
        return OffsetFetchResponse(
            topics=[OffsetFetchResponseTopic(name="t", partitions=[partition])]
        )

    broker = Answering(FindCoordinator=where, OffsetFetch=read)
    broker.newest = {"FindCoordinator": 3, "OffsetFetch": 7}
    async with admin_of(broker) as admin:
        found = await admin.list_group_offsets(["1", "2"])
    assert [found[name][T0].offset for name in ("1", "2")] == [1, 2]
    assert len(broker.asked) == 4


async def test_an_error_of_one_group_is_not_one_of_the_others(
    admin: Admin, kafka: EmbeddedBroker
) -> None:
    code = int(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    groups = [
        OffsetFetchResponseGroup(group_id="open", topics=[]),
        OffsetFetchResponseGroup(group_id="closed", topics=[], error_code=code),
    ]
    kafka.control("OffsetFetch", lambda _: Respond(OffsetFetchResponse(groups=groups)))
    found = await admin.list_group_offsets(["open", "closed"])
    assert (found["open"], list(found.errors)) == ({}, ["closed"])


async def test_offsets_of_a_group_at_work_are_its_own(admin: Admin, kafka: EmbeddedBroker) -> None:
    async with member_of(kafka) as member:
        member.subscribe(["t"])
        await settle(member, counts=[3])
        with pytest.raises(UnknownMemberId):
            (await admin.alter_group_offsets("g", {T0: 1})).check()


async def test_each_partition_has_its_own_outcome(admin: Admin) -> None:
    await admin.create_topics(["t"])
    outcomes = await admin.alter_group_offsets("g", {T0: 1, TopicPartition("x", 0): 1})
    assert outcomes[T0] is None
    with pytest.raises(UnknownTopicOrPartition):
        outcomes[TopicPartition("x", 0)]


async def test_offsets_are_forgotten(admin: Admin) -> None:
    await admin.create_topics(["t"])
    await admin.alter_group_offsets("g", {T0: 5, T1: 6})
    (await admin.delete_group_offsets("g", [T0])).check()
    assert set((await admin.list_group_offsets("g"))["g"]) == {T1}
    with pytest.raises(GroupIdNotFound):
        (await admin.delete_group_offsets("x", [T0])).check()


async def test_a_coordinator_that_moved_is_found_again(admin: Admin, kafka: EmbeddedBroker) -> None:
    await admin.create_topics(["t"])
    moved = Fail(ErrorCode.NOT_COORDINATOR)
    committing = itertools.chain([moved], itertools.repeat(None))
    fetching = itertools.chain([moved], itertools.repeat(None))
    kafka.control("OffsetCommit", lambda _: next(committing))
    kafka.control("OffsetFetch", lambda _: next(fetching))
    (await admin.alter_group_offsets("g", {T0: 5})).check()
    assert (await admin.list_group_offsets("g"))["g"] == {T0: CommittedOffset(5)}


@pytest.mark.parametrize("at_the_top", [True, False])
async def test_an_error_of_one_partition_is_an_error_of_its_group(
    admin: Admin, kafka: EmbeddedBroker, *, at_the_top: bool
) -> None:
    code = int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    partition = OffsetFetchResponsePartition(
        partition_index=0, committed_offset=-1, metadata="", error_code=code
    )
    topic = OffsetFetchResponseTopic(name="t", partitions=[partition])
    answer = OffsetFetchResponse(
        topics=[] if at_the_top else [topic], error_code=code if at_the_top else 0
    )
    kafka.control("OffsetFetch", lambda _: Respond(answer))
    outcomes = await admin.list_group_offsets("g")
    with pytest.raises(TopicAuthorizationFailed) as caught:
        outcomes.check()
    assert isinstance(caught.value, KafkaError)
