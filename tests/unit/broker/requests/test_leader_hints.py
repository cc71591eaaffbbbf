"""Leaders that an answer mentions."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from moldau.broker.context import Client
from moldau.broker.requests.leader_hints import LeaderHints
from moldau.errors import ErrorCode
from moldau.metadata.image import (
    BrokerEndpoint,
    BrokerNode,
    ClusterImage,
    PartitionImage,
    TopicImage,
)
from moldau.replication.partition import Partition, PartitionState
from unit.broker.world import broker_world

CLIENT = Client("PLAINTEXT", "10.0.0.9", "10.0.0.1", 9092)
WRONG = ErrorCode.NOT_LEADER_OR_FOLLOWER


def hints(replicas: Mapping[tuple[str, int], Partition] = MappingProxyType({})) -> LeaderHints:
    """Partition 0 is led by 4, 1 by nobody, 2 by 5, which does not listen here, 3 by a stranger."""
    leaders = {0: 4, 1: -1, 2: 5, 3: 9}
    partitions = {number: PartitionImage(leader, 7, (), ()) for number, leader in leaders.items()}
    brokers = {
        4: BrokerNode(4, {"PLAINTEXT": BrokerEndpoint("four", 94)}, "rack"),
        5: BrokerNode(5, {"OTHER": BrokerEndpoint("five", 95)}),
    }
    image = ClusterImage(4, brokers, {"t": TopicImage("t", b"t" * 16, partitions)}, {})
    return LeaderHints(image, CLIENT, replicas.get)


@pytest.mark.parametrize("code", [WRONG, ErrorCode.FENCED_LEADER_EPOCH])
def test_who_asks_the_wrong_broker_is_told_the_right_one_once(code: ErrorCode) -> None:
    made = hints()
    for _ in range(2):
        found = made.leader_for(code, "t", 0)
        assert found is not None
        assert (found.leader, found.leader_epoch) == (4, 7)
    assert [(node.id, host, port, node.rack) for node, host, port in made.nodes()] == [
        (4, "four", 94, "rack")
    ]


@pytest.mark.parametrize(("epoch", "leader"), [(6, 4), (7, 4), (8, 5)])
async def test_a_replica_may_know_of_a_leader_before_the_metadata_does(
    epoch: int, leader: int
) -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        replica = world.partition("t")
        replica.follow(PartitionState(1, 5, epoch, (5,), 0, (0, 5)))
        found = hints({("t", 0): replica}).leader_for(WRONG, "t", 0)
    assert found is not None
    assert (found.leader, found.leader_epoch) == (leader, max(7, epoch))


def test_other_errors_tell_nothing() -> None:
    made = hints()
    for code in (ErrorCode.NONE, ErrorCode.UNKNOWN_LEADER_EPOCH):
        assert made.leader_for(code, "t", 0) is None
    assert list(made.nodes()) == []


def test_without_a_leader_nobody_is_named() -> None:
    made = hints()
    assert made.leader_for(WRONG, "t", 1) is None
    assert made.leader_for(WRONG, "t", 9) is None
    assert made.leader_for(WRONG, "u", 0) is None


@pytest.mark.parametrize("number", [2, 3])
def test_a_leader_that_cannot_be_reached_has_no_address(number: int) -> None:
    made = hints()
    assert made.leader_for(WRONG, "t", number) is not None
    assert list(made.nodes()) == []
