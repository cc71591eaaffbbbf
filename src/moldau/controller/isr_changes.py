"""In-sync sets that leaders ask the controller to write (KIP-497)."""

from collections.abc import Mapping
from typing import NamedTuple

from moldau.controller.cluster import ClusterPicture, LeaderIsr
from moldau.controller.controller import StateWrite
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

NO_EPOCH = -1


class IsrMember(NamedTuple):
    """A replica that should be in sync, and the registration in which its leader knows it."""

    id: int
    broker_epoch: int = NO_EPOCH


class IsrWish(NamedTuple):
    """What a leader asks for, and the state that it has in mind."""

    leader_epoch: int
    partition_epoch: int
    members: tuple[IsrMember, ...]

    @property
    def isr(self) -> tuple[int, ...]:
        return tuple(member.id for member in self.members)


Wishes = Mapping[TopicPartition, IsrWish]
Refusals = dict[TopicPartition, KafkaError]


def plan_wishes(
    cluster: ClusterPicture, wishes: Wishes, *, controller_epoch: int
) -> tuple[list[StateWrite], Refusals]:
    """The writes that grant wishes, and what cannot be granted."""
    writes, refused = [], {}
    for partition, wish in wishes.items():
        try:
            write = plan_isr(cluster, partition, wish, controller_epoch=controller_epoch)
        except KafkaError as error:
            refused[partition] = error.kept()
        else:
            writes += [] if write is None else [write]
    return writes, refused


def plan_isr(
    cluster: ClusterPicture, partition: TopicPartition, wish: IsrWish, *, controller_epoch: int
) -> StateWrite | None:
    """The write that grants a wish; None if it is granted already; KafkaError if it is refused."""
    state = cluster.leaders.get(partition)
    if state is None or partition.topic in cluster.deleting:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if wish.leader_epoch > state.leader_epoch or wish.partition_epoch > state.zk_version:
        # The leader has a request from a controller after this one.
        raise KafkaError(ErrorCode.NOT_CONTROLLER)
    if wish.leader_epoch < state.leader_epoch:
        raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
    if wish.isr == state.isr:
        return None  # the answer got lost
    if wish.partition_epoch < state.zk_version:
        raise KafkaError(ErrorCode.INVALID_UPDATE_VERSION)
    unfit = [one.id for one in wish.members if not _is_fit(one, partition, cluster)]
    if unfit:
        # A broker that has gone, or is about to, must not come back by a late wish (KIP-841).
        raise KafkaError(ErrorCode.INELIGIBLE_REPLICA, f"not to be in sync: {unfit}")
    changed = LeaderIsr(state.leader, state.leader_epoch, wish.isr, controller_epoch)
    return StateWrite(partition, changed, state.zk_version)


def _is_fit(member: IsrMember, partition: TopicPartition, cluster: ClusterPicture) -> bool:
    live = cluster.brokers.get(member.id)
    if live is None or member.broker_epoch not in (NO_EPOCH, live.epoch):
        return False
    is_known = member.id in cluster.assignment(partition).replicas
    is_leaving = member.id in cluster.stopping and member.id not in cluster.leaders[partition].isr
    return is_known and not is_leaving
