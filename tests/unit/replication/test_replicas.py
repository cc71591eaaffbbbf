"""The table of replicas, as the controller's requests make, move and end them."""

import pytest

from moldau.config.topic import TopicConfig
from moldau.errors import ErrorCode, KafkaError
from moldau.log import partition_metadata
from moldau.log.log import Log
from moldau.log.opening import create
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.metadata.image import EPOCH_DURING_DELETE
from moldau.model import TopicPartition
from moldau.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from moldau.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from moldau.protocol.primitives import NO_UUID
from moldau.replication.replicas import Replicas, RoleChanges
from moldau.runtime.clock import Moment
from moldau.testing.disk import MemoryDisk

T0 = TopicPartition("t", 0)
TOPIC_ID = b"t" * 16
BROKER = 1


class Shelf:
    """The logs of a broker, all on one volume."""

    def __init__(self) -> None:
        self.volume = Volume(MemoryDisk(), "/logs")
        self.volume.disk.make_directory("/logs")
        self.logs: dict[TopicPartition, Log] = {}

    def get(self, partition: TopicPartition) -> Log | None:
        return self.logs.get(partition)

    def create(
        self, partition: TopicPartition, *, topic_id: bytes | None, is_new: bool, now_ms: int
    ) -> Log:
        assert is_new
        self.volume.require_online()
        folder = Folder(self.volume, partition)
        log = create(folder, TopicConfig(), Shared(), now_ms=now_ms, topic_id=topic_id)
        self.logs[partition] = log
        return log

    def holds(self, partition: TopicPartition) -> bool:
        return partition in self.logs

    def delete(self, partition: TopicPartition, *, now_ms: int) -> None:
        del self.logs[partition]


class Table:
    """A table of replicas and its logs."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.known: set[TopicPartition] = set()
        self.replicas = Replicas(
            BROKER, self.shelf, lag_max_ms=30_000, is_known=lambda one: one in self.known
        )

    def apply(
        self,
        *,
        leader: int = BROKER,
        epoch: int = 0,
        controller_epoch: int = 1,
        topic_id: bytes = TOPIC_ID,
        replicas: tuple[int, ...] = (BROKER, 2),
    ) -> RoleChanges:
        state = LeaderAndIsrPartitionState(
            partition_index=0,
            controller_epoch=controller_epoch,
            leader=leader,
            leader_epoch=epoch,
            isr=[leader],
            partition_epoch=0,
            replicas=list(replicas),
            is_new=True,
        )
        topic = LeaderAndIsrTopicState(topic_name="t", topic_id=topic_id, partition_states=[state])
        request = LeaderAndIsrRequest(
            controller_id=1,
            controller_epoch=controller_epoch,
            topic_states=[topic],
            live_leaders=[],
        )
        return self.replicas.apply_leader_and_isr(request, Moment(5, 5))

    def stop(self, epoch: int, *, is_deletion: bool, controller_epoch: int = 1) -> ErrorCode:
        state = StopReplicaPartitionState(
            partition_index=0, leader_epoch=epoch, delete_partition=is_deletion
        )
        request = StopReplicaRequest(
            controller_id=1,
            controller_epoch=controller_epoch,
            topic_states=[StopReplicaTopicState(topic_name="t", partition_states=[state])],
        )
        return self.replicas.apply_stop_replica(request, now_ms=5)[T0]

    def refusal(self) -> ErrorCode:
        with pytest.raises(KafkaError) as refused:
            self.replicas.leader(T0)
        return refused.value.code


# Leading and following


def test_a_partition_that_is_given_to_this_broker_gets_a_log_and_is_led() -> None:
    table = Table()
    assert not table.replicas.is_assigned(T0)
    changes = table.apply(epoch=3)
    assert table.replicas.is_assigned(T0)
    assert changes.errors == {T0: ErrorCode.NONE}
    assert [one.topic_partition for one in changes.leading] == [T0]
    led = table.replicas.leader(T0, 3)
    assert led.log.topic_id == TOPIC_ID
    assert led.log.epochs.latest is not None
    assert len(table.replicas) == 1
    assert list(table.replicas) == [led] == [table.replicas.find(T0)]


def test_a_partition_that_another_leads_is_followed() -> None:
    table = Table()
    changes = table.apply(leader=2)
    assert [one.topic_partition for one in changes.following] == [T0]
    assert table.refusal() == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert table.replicas.replica(T0).log is table.shelf.logs[T0]


def test_what_nobody_has_is_unknown_and_what_others_have_is_not_led() -> None:
    table = Table()
    assert table.refusal() == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    table.known.add(T0)
    assert table.refusal() == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_partition_whose_log_cannot_be_had_is_offline_until_it_can_or_is_deleted() -> None:
    table = Table()
    table.shelf.volume.failure = OSError("disk")
    assert table.apply().errors == {T0: ErrorCode.KAFKA_STORAGE_ERROR}
    assert table.replicas.is_assigned(T0)
    assert table.refusal() == ErrorCode.KAFKA_STORAGE_ERROR
    assert table.stop(0, is_deletion=True) == ErrorCode.NONE
    assert table.refusal() == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    table.apply()
    table.shelf.volume.failure = None
    assert table.apply().errors == {T0: ErrorCode.NONE}
    assert table.replicas.leader(T0).is_leader


def test_a_partition_without_a_replica_here_is_refused() -> None:
    table = Table()
    assert table.apply(replicas=(2, 3), leader=2).errors == {
        T0: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    }
    assert table.shelf.logs == {}


def test_an_epoch_that_is_not_newer_changes_nothing() -> None:
    table = Table()
    table.apply(epoch=3)
    for epoch in (3, 2):
        changes = table.apply(leader=2, epoch=epoch)
        assert changes.errors == {T0: ErrorCode.STALE_CONTROLLER_EPOCH}
        assert changes.following == []
    assert table.replicas.leader(T0).is_leader


def test_a_controller_of_the_past_is_refused_as_a_whole() -> None:
    table = Table()
    table.apply(controller_epoch=5)
    for act in (
        lambda: table.apply(controller_epoch=4, epoch=9),
        lambda: table.stop(9, is_deletion=True, controller_epoch=4),
        lambda: table.replicas.require_controller(4),
    ):
        with pytest.raises(KafkaError) as refused:
            act()
        assert refused.value.code == ErrorCode.STALE_CONTROLLER_EPOCH
    assert table.replicas.controller_epoch == 5
    assert table.replicas.leader(T0).state.leader_epoch == 0


# Topic ids


def test_the_log_of_another_topic_of_that_name_is_not_taken() -> None:
    table = Table()
    table.apply()
    changes = table.apply(epoch=1, topic_id=b"other topic's id")
    assert changes.errors == {T0: ErrorCode.INCONSISTENT_TOPIC_ID}
    restarted = Table()
    restarted.shelf.create(T0, topic_id=b"other topic's id", is_new=True, now_ms=0)
    assert restarted.apply().errors == {T0: ErrorCode.INCONSISTENT_TOPIC_ID}


def test_a_log_without_an_id_gets_it_on_disk_too() -> None:
    table = Table()
    log = table.shelf.create(T0, topic_id=None, is_new=True, now_ms=0)
    assert table.apply(topic_id=NO_UUID).errors == {T0: ErrorCode.NONE}
    assert log.topic_id is None
    assert table.apply(epoch=1).errors == {T0: ErrorCode.NONE}
    path = f"{log.folder.path}/{partition_metadata.FILE_NAME}"
    assert partition_metadata.read(log.folder.disk, path) == TOPIC_ID


# Ending


def test_stopping_keeps_the_log_and_deleting_takes_it() -> None:
    table = Table()
    table.apply(epoch=2)
    assert table.stop(2, is_deletion=False) == ErrorCode.NONE
    assert T0 in table.shelf.logs
    partition = table.replicas.leader(T0)
    assert table.stop(2, is_deletion=True) == ErrorCode.NONE
    assert (table.shelf.logs, len(table.replicas)) == ({}, 0)
    assert not partition.is_leader
    with pytest.raises(KafkaError) as refused:
        partition.is_committed(0)
    assert refused.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_an_older_epoch_does_not_stop_but_a_deletion_always_does() -> None:
    table = Table()
    table.apply(epoch=2)
    assert table.stop(1, is_deletion=True) == ErrorCode.FENCED_LEADER_EPOCH
    assert len(table.replicas) == 1
    assert table.stop(EPOCH_DURING_DELETE, is_deletion=True) == ErrorCode.NONE
    assert len(table.replicas) == 0


def test_a_log_of_which_the_table_knows_nothing_is_deleted_too() -> None:
    table = Table()
    table.shelf.create(T0, topic_id=TOPIC_ID, is_new=True, now_ms=0)
    assert table.stop(EPOCH_DURING_DELETE, is_deletion=True) == ErrorCode.NONE
    assert table.shelf.logs == {}
    assert table.stop(EPOCH_DURING_DELETE, is_deletion=True) == ErrorCode.NONE


def test_old_layouts_of_requests_are_understood() -> None:
    table = Table()
    single = LeaderAndIsrPartitionState(
        topic_name="t",
        partition_index=0,
        controller_epoch=1,
        leader=BROKER,
        leader_epoch=0,
        isr=[BROKER],
        partition_epoch=0,
        replicas=[BROKER],
        is_new=True,
    )
    request = LeaderAndIsrRequest(
        controller_id=1, controller_epoch=1, ungrouped_partition_states=[single], live_leaders=[]
    )
    table.replicas.apply_leader_and_isr(request, Moment(5, 5))
    assert table.replicas.leader(T0).is_leader
    for stop in (
        StopReplicaRequest(
            controller_id=1,
            controller_epoch=1,
            delete_partitions=False,
            topics=[StopReplicaTopicV1(name="t", partition_indexes=[0])],
        ),
        StopReplicaRequest(
            controller_id=1,
            controller_epoch=1,
            delete_partitions=True,
            ungrouped_partitions=[StopReplicaPartitionV0(topic_name="t", partition_index=0)],
        ),
    ):
        assert table.replicas.apply_stop_replica(stop, now_ms=5) == {T0: ErrorCode.NONE}
    assert len(table.replicas) == 0


# Disks


def test_a_replica_on_a_failed_disk_is_neither_led_nor_made() -> None:
    table = Table()
    table.apply()
    table.shelf.volume.fail(OSError("gone"))
    assert table.refusal() == ErrorCode.KAFKA_STORAGE_ERROR
    assert table.apply(epoch=1).errors == {T0: ErrorCode.KAFKA_STORAGE_ERROR}
    assert table.stop(EPOCH_DURING_DELETE, is_deletion=False) == ErrorCode.NONE
