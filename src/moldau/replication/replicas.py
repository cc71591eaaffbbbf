"""All replicas on this broker, as the controller's requests make and move them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from moldau.errors import ErrorCode, KafkaError, KafkaStorageError
from moldau.log import partition_metadata
from moldau.log.log import Log
from moldau.metadata.image import EPOCH_DURING_DELETE
from moldau.model import TopicPartition
from moldau.protocol.messages.leader_and_isr import LeaderAndIsrPartitionState, LeaderAndIsrRequest
from moldau.protocol.messages.stop_replica import StopReplicaRequest
from moldau.protocol.primitives import NO_UUID
from moldau.replication.partition import NO_EPOCH, Partition, PartitionState
from moldau.runtime.clock import Moment


class Stop(NamedTuple):
    """A replica that a controller wants stopped."""

    partition: TopicPartition
    leader_epoch: int
    is_deletion: bool


class ReplicaLogs(Protocol):
    """Where the logs of the replicas are."""

    def get(self, partition: TopicPartition) -> Log | None:
        """The log of a partition, if there is one."""

    def create(
        self, partition: TopicPartition, *, topic_id: bytes | None, is_new: bool, now_ms: int
    ) -> Log:
        """Make an empty log; refuses one for an old partition that may be on a lost disk."""

    def holds(self, partition: TopicPartition) -> bool:
        """Whether there are files of a partition, be they of use or not."""

    def delete(self, partition: TopicPartition, *, now_ms: int) -> None:
        """Take a log away; its files go later."""


class Unit(NamedTuple):
    """One partition of a LeaderAndIsr request, whichever version grouped it."""

    partition: TopicPartition
    topic_id: bytes | None
    state: LeaderAndIsrPartitionState


@dataclass(slots=True)
class RoleChanges:
    """What a LeaderAndIsr request did."""

    errors: dict[TopicPartition, ErrorCode] = field(default_factory=dict)
    leading: list[Partition] = field(default_factory=list)
    """Partitions that this broker leads in a new epoch."""
    following: list[Partition] = field(default_factory=list)
    """Partitions that follow a new leader, or a new epoch of it."""


class Replicas:
    """The table of partitions; requests of an older controller are refused."""

    def __init__(
        self,
        broker_id: int,
        logs: ReplicaLogs,
        *,
        lag_max_ms: int,
        is_known: Callable[[TopicPartition], bool],
    ) -> None:
        """`is_known` says whether the cluster has a partition at all."""
        self._broker_id = broker_id
        self._logs = logs
        self._is_known = is_known
        self._lag_max_ms = lag_max_ms
        self._partitions: dict[tuple[str, int], Partition] = {}
        self._offline: dict[TopicPartition, KafkaStorageError] = {}
        self.controller_epoch = NO_EPOCH

    def __len__(self) -> int:
        return len(self._partitions)

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._partitions.values())

    def find(self, partition: tuple[str, int]) -> Partition | None:
        """The replica of a partition, if there is one here; a topic and a number will do."""
        return self._partitions.get(partition)

    def find_led(self, partition: tuple[str, int]) -> Partition | None:
        """The replica of a partition, if this broker leads it."""
        found = self._partitions.get(partition)
        if found is None or found.state.leader != self._broker_id:
            return None
        return found

    def is_assigned(self, partition: TopicPartition) -> bool:
        """Whether a controller has had this broker lead or follow it, be its log usable or not."""
        return partition in self._partitions or partition in self._offline

    def leader(self, partition: TopicPartition, current_leader_epoch: int = NO_EPOCH) -> Partition:
        """The partition, which this broker must lead in the epoch that the client knows."""
        found = self.replica(partition)
        found.require_leader(current_leader_epoch)
        return found

    def replica(self, partition: TopicPartition) -> Partition:
        """The partition, of which this broker must have a replica."""
        found = self._partitions.get(partition)
        if found is None:
            if partition in self._offline:
                raise self._offline[partition]
            if not self._is_known(partition):
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no {partition}")
            message = f"this broker has no replica of {partition}"
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, message)
        found.log.folder.volume.require_online()
        return found

    def replace_log(self, partition: TopicPartition, log: Log) -> None:
        """The replica's log has moved to another directory: its copy is the log now."""
        found = self._partitions.get(partition)
        if found is not None:
            found.log = log

    # The controller's requests

    def require_controller(self, controller_epoch: int) -> None:
        """Raise if the request comes from a controller that has been replaced."""
        if controller_epoch < self.controller_epoch:
            message = f"controller epoch {controller_epoch} is before {self.controller_epoch}"
            raise KafkaError(ErrorCode.STALE_CONTROLLER_EPOCH, message)
        self.controller_epoch = controller_epoch

    def apply_leader_and_isr(self, request: LeaderAndIsrRequest, now: Moment) -> RoleChanges:
        """Take on the roles that the controller gives; raises for a controller of the past."""
        self.require_controller(request.controller_epoch)
        changes = RoleChanges()
        for unit in _units(request):
            try:
                self._apply(unit, changes, now)
            except KafkaError as error:
                changes.errors[unit.partition] = error.code
                if isinstance(error, KafkaStorageError):
                    self._offline[unit.partition] = error.kept()
            else:
                self._offline.pop(unit.partition, None)
                changes.errors[unit.partition] = ErrorCode.NONE
        return changes

    def apply_stop_replica(
        self, request: StopReplicaRequest, *, now_ms: int
    ) -> dict[TopicPartition, ErrorCode]:
        """Stop, and where asked delete, replicas; raises for a controller of the past."""
        self.require_controller(request.controller_epoch)
        return self.stop(stops_of(request), now_ms=now_ms)

    def stop(self, stops: Iterable[Stop], *, now_ms: int) -> dict[TopicPartition, ErrorCode]:
        """Stop some of the replicas that a controller wants stopped."""
        outcome = {}
        for partition, leader_epoch, is_deletion in stops:
            try:
                self._stop(partition, leader_epoch, is_deletion=is_deletion, now_ms=now_ms)
            except KafkaError as error:
                outcome[partition] = error.code
            else:
                outcome[partition] = ErrorCode.NONE
        return outcome

    def _apply(self, unit: Unit, changes: RoleChanges, now: Moment) -> None:
        known = self._partitions.get(unit.partition)
        if known is not None:
            # Also for what is no news: so the controller asks which replicas are lost.
            known.log.folder.volume.require_online()
            _require_topic_id(known.log, unit.topic_id)
            if unit.state.leader_epoch <= known.state.leader_epoch:
                raise KafkaError(ErrorCode.STALE_CONTROLLER_EPOCH)
        if self._broker_id not in unit.state.replicas:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        partition = known or self._open(unit, now.wall_ms)
        state = _state(unit.state)
        if state.leader == self._broker_id:
            partition.lead(state, now_ms=now.monotonic_ms)
            changes.leading.append(partition)
        elif partition.follow(state):
            changes.following.append(partition)
        self._partitions[unit.partition] = partition

    def _open(self, unit: Unit, now_ms: int) -> Partition:
        log = self._logs.get(unit.partition)
        if log is None:
            log = self._logs.create(
                unit.partition, topic_id=unit.topic_id, is_new=unit.state.is_new, now_ms=now_ms
            )
        _require_topic_id(log, unit.topic_id)
        return Partition(unit.partition, log, local_id=self._broker_id, lag_max_ms=self._lag_max_ms)

    def _stop(
        self, name: TopicPartition, leader_epoch: int, *, is_deletion: bool, now_ms: int
    ) -> None:
        partition = self._partitions.get(name)
        if (
            partition is not None
            and leader_epoch not in (NO_EPOCH, EPOCH_DURING_DELETE)
            and leader_epoch < partition.state.leader_epoch
        ):
            raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
        if is_deletion:
            self._offline.pop(name, None)
            # Also without a replica in the table: the topic may have gone while we were down.
            if self._logs.holds(name):
                self._logs.delete(name, now_ms=now_ms)
            if partition is not None:
                partition.leave()
                del self._partitions[name]


def _units(request: LeaderAndIsrRequest) -> Iterator[Unit]:
    for topic in request.topic_states:
        topic_id = None if topic.topic_id == NO_UUID else topic.topic_id
        for state in topic.partition_states:
            partition = TopicPartition(topic.topic_name, state.partition_index)
            yield Unit(partition, topic_id, state)
    for state in request.ungrouped_partition_states:
        yield Unit(TopicPartition(state.topic_name, state.partition_index), None, state)


def stops_of(request: StopReplicaRequest) -> Iterator[Stop]:
    """What a request wants to be stopped, in whichever version it says so."""
    for topic in request.topic_states:
        for state in topic.partition_states:
            partition = TopicPartition(topic.topic_name, state.partition_index)
            yield Stop(partition, state.leader_epoch, state.delete_partition)
    for old_topic in request.topics:
        for index in old_topic.partition_indexes:
            partition = TopicPartition(old_topic.name, index)
            yield Stop(partition, NO_EPOCH, request.delete_partitions)
    for single in request.ungrouped_partitions:
        partition = TopicPartition(single.topic_name, single.partition_index)
        yield Stop(partition, NO_EPOCH, request.delete_partitions)


def _state(state: LeaderAndIsrPartitionState) -> PartitionState:
    return PartitionState(
        controller_epoch=state.controller_epoch,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=tuple(state.isr),
        partition_epoch=state.partition_epoch,
        replicas=tuple(state.replicas),
    )


def _require_topic_id(log: Log, topic_id: bytes | None) -> None:
    """A log of an earlier topic of the same name must not be taken for the new one's."""
    if topic_id is None:
        return
    if log.topic_id is None:
        with log.folder.volume.guard():
            path = f"{log.folder.path}/{partition_metadata.FILE_NAME}"
            partition_metadata.write(log.folder.disk, path, topic_id)
        log.topic_id = topic_id
    elif log.topic_id != topic_id:
        raise KafkaError(ErrorCode.INCONSISTENT_TOPIC_ID)
