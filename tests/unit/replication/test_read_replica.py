"""Which replica a consumer should read from."""

import pytest

from moldau.errors import InvalidConfig
from moldau.replication.partition import Partition
from moldau.replication.read_replica import LEADER_ONLY, RACK_AWARE, nearest, selects_by_rack
from unit.replication.replica_set import ReplicaSet

RACKS = {1: "a", 2: "b", 3: "b"}


def led(*, caught_up: tuple[int, ...] = (2, 3)) -> Partition:
    """Broker 1 leads, with two records; the followers have them or have only the first."""
    replicas = ReplicaSet(count=3, min_insync_replicas=1)
    replicas.append(1, b"first", acks=1)
    for broker in (2, 3):
        replicas.ask(broker)
        replicas.ask(broker)
    replicas.append(1, b"second", acks=1)
    for broker in caught_up:
        replicas.ask(broker)
        replicas.ask(broker)
    return replicas.members[1].partition


def test_a_follower_in_the_consumers_rack_is_nearest() -> None:
    assert nearest(led(caught_up=(2,)), 1, "b", RACKS) == 2
    assert nearest(led(caught_up=(3,)), 1, "b", RACKS) == 3


def test_of_equals_the_one_with_the_larger_id_is_taken() -> None:
    assert nearest(led(), 1, "b", RACKS) == 3


def test_the_leader_serves_its_own_rack_and_racks_without_a_replica() -> None:
    assert nearest(led(), 1, "a", RACKS) is None
    assert nearest(led(), 1, "b", dict.fromkeys(RACKS, "b")) is None
    assert nearest(led(), 1, "c", RACKS) is None
    assert nearest(led(), 1, "", RACKS) is None


def test_a_follower_has_what_lies_between_its_ends() -> None:
    for offset, replica in ((0, 3), (2, 3), (3, None)):
        assert nearest(led(), offset, "b", RACKS) == replica


def test_a_follower_without_the_offset_is_passed_over() -> None:
    assert nearest(led(caught_up=(2,)), 2, "b", RACKS) == 2
    assert nearest(led(caught_up=()), 2, "b", RACKS) is None


def test_a_follower_that_is_not_in_sync_is_passed_over() -> None:
    partition = led()
    partition.state = partition.state._replace(isr=(1, 2))
    assert nearest(partition, 1, "b", RACKS) == 2


def test_a_broker_that_the_consumer_cannot_reach_is_passed_over() -> None:
    assert nearest(led(), 1, "b", {1: "a", 2: "b"}) == 2


def test_the_selector_is_named_by_kafkas_class() -> None:
    assert selects_by_rack(RACK_AWARE)
    assert not selects_by_rack(LEADER_ONLY)
    assert not selects_by_rack(None)
    with pytest.raises(InvalidConfig, match=r"replica\.selector\.class"):
        selects_by_rack("com.example.Mine")
