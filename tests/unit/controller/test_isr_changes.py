"""Which in-sync sets a controller writes for leaders."""

import pytest

from moldau.controller.cluster import (
    ClusterPicture,
    LeaderIsr,
    LiveBroker,
    ReplicaAssignment,
    Topic,
)
from moldau.controller.isr_changes import IsrMember, IsrWish, plan_isr, plan_wishes
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

T0 = TopicPartition("t", 0)
EPOCH = 7


def cluster() -> ClusterPicture:
    made = ClusterPicture()
    for number in (1, 2, 3, 4):
        made.brokers[number] = LiveBroker(number, 100 + number, ())
    made.topics["t"] = Topic(None, {0: ReplicaAssignment((1, 2, 3))})
    made.leaders[T0] = LeaderIsr(1, 5, (1, 2), 6, zk_version=9)
    return made


def wish(*members: int | IsrMember, leader_epoch: int = 5, partition_epoch: int = 9) -> IsrWish:
    made = tuple(one if isinstance(one, IsrMember) else IsrMember(one) for one in members)
    return IsrWish(leader_epoch, partition_epoch, made)


def test_a_set_is_written_under_the_same_leader_epoch() -> None:
    write = plan_isr(cluster(), T0, wish(1, 2, IsrMember(3, 103)), controller_epoch=EPOCH)
    assert write is not None
    assert write.state == LeaderIsr(1, 5, (1, 2, 3), EPOCH)
    assert write.expected_version == 9


def test_what_is_there_already_is_not_written_again() -> None:
    again = wish(1, 2, partition_epoch=8)
    assert plan_isr(cluster(), T0, again, controller_epoch=EPOCH) is None


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (wish(1, leader_epoch=6), ErrorCode.NOT_CONTROLLER),
        (wish(1, partition_epoch=10), ErrorCode.NOT_CONTROLLER),
        (wish(1, leader_epoch=4), ErrorCode.FENCED_LEADER_EPOCH),
        (wish(1, partition_epoch=8), ErrorCode.INVALID_UPDATE_VERSION),
        (wish(1, 2, IsrMember(3, 102)), ErrorCode.INELIGIBLE_REPLICA),
        (wish(1, 2, 9), ErrorCode.INELIGIBLE_REPLICA),
        (wish(1, 2, 4), ErrorCode.INELIGIBLE_REPLICA),
    ],
)
def test_what_is_late_or_wrong_is_refused(asked: IsrWish, code: ErrorCode) -> None:
    writes, refused = plan_wishes(cluster(), {T0: asked}, controller_epoch=EPOCH)
    assert writes == []
    assert refused[T0].code is code


def test_a_broker_that_is_about_to_stop_does_not_come_into_sync() -> None:
    there = cluster()
    there.stopping.add(3)
    with pytest.raises(KafkaError):
        plan_isr(there, T0, wish(1, 2, 3), controller_epoch=EPOCH)


def test_a_topic_that_is_unknown_or_going_has_no_set() -> None:
    there = cluster()
    there.deleting["t"] = None
    for name in (T0, TopicPartition("other", 0)):
        with pytest.raises(KafkaError) as refused:
            plan_isr(there, name, wish(1), controller_epoch=EPOCH)
        assert refused.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_what_can_be_granted_is_written_beside_what_is_refused() -> None:
    there = cluster()
    other = TopicPartition("t", 1)
    there.topics["t"].partitions[1] = ReplicaAssignment((1, 2, 3))
    there.leaders[other] = LeaderIsr(1, 5, (1, 2), 6, zk_version=9)
    wishes = {T0: wish(1, 2, 3), other: wish(1, leader_epoch=4), TopicPartition("u", 0): wish(1)}
    writes, refused = plan_wishes(there, wishes, controller_epoch=EPOCH)
    assert [(write.partition, write.state.isr) for write in writes] == [(T0, (1, 2, 3))]
    assert set(refused) == {other, TopicPartition("u", 0)}
    assert plan_wishes(there, {T0: wish(1, 2)}, controller_epoch=EPOCH) == ([], {})


def test_a_broker_that_is_about_to_stop_may_stay_in_sync() -> None:
    there = cluster()
    there.stopping.add(2)
    write = plan_isr(there, T0, wish(1, 2, 3), controller_epoch=EPOCH)
    assert write is not None
    assert write.state.isr == (1, 2, 3)


def test_before_epochs_were_sent_a_member_counts_by_its_id_alone() -> None:
    write = plan_isr(cluster(), T0, wish(1, 2, IsrMember(3, -1)), controller_epoch=EPOCH)
    assert write is not None
    assert write.state.isr == (1, 2, 3)
