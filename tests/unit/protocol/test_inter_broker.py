"""Versions among brokers, by the protocol that their cluster is set to."""

import pytest

from moldau.protocol.codec import decode, encode
from moldau.protocol.inter_broker import in_version, version_of
from moldau.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from moldau.protocol.messages.controlled_shutdown import ControlledShutdownRequest
from moldau.protocol.messages.fetch import FetchRequest
from moldau.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from moldau.protocol.messages.list_offsets import ListOffsetsRequest
from moldau.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from moldau.protocol.messages.produce import ProduceRequest
from moldau.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest
from moldau.protocol.messages.write_txn_markers import WriteTxnMarkersRequest


@pytest.mark.parametrize(
    ("request_type", "at_24", "at_39"),
    [
        (ProduceRequest, 8, 8),
        (FetchRequest, 11, 17),
        (ListOffsetsRequest, 5, 8),
        (LeaderAndIsrRequest, 4, 7),
        (StopReplicaRequest, 2, 4),
        (UpdateMetadataRequest, 6, 8),
        (ControlledShutdownRequest, 3, 3),
        (OffsetForLeaderEpochRequest, 3, 4),
        (WriteTxnMarkersRequest, 0, 1),
        (AddPartitionsToTxnRequest, 5, 5),
    ],
)
def test_the_protocol_decides_the_version(request_type: type, at_24: int, at_39: int) -> None:
    assert version_of(request_type, "2.4") == at_24
    assert version_of(request_type, "3.9-IV0") == at_39


def test_a_step_of_a_release_is_before_the_release() -> None:
    assert version_of(LeaderAndIsrRequest, "2.4-IV0") == 3
    assert version_of(FetchRequest, "2.7-IV0") == 11
    assert version_of(FetchRequest, "2.7") == 12


def test_an_old_broker_is_told_to_stop_replicas_in_its_own_layout() -> None:
    state = StopReplicaPartitionState(partition_index=3, leader_epoch=5, delete_partition=True)
    request = StopReplicaRequest(
        controller_id=1,
        controller_epoch=2,
        broker_epoch=9,
        topic_states=[StopReplicaTopicState(topic_name="t", partition_states=[state])],
    )
    assert in_version(request, 3) is request
    old = in_version(request, 2)
    copy, _ = decode(StopReplicaRequest, 2, encode(old, 2))
    assert copy.delete_partitions
    assert [(topic.name, topic.partition_indexes) for topic in copy.topics] == [("t", [3])]
    assert copy.broker_epoch == 9
