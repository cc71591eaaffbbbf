"""Partitions lack replicas for a broker that is down, a move, a throttle, or a slow one."""

from moldau.client.admin.topics import PartitionDescription, TopicDescription
from moldau.console.why.diagnosis import Diagnosis
from moldau.console.why.partitions import PartitionFacts, why_partitions
from moldau.model import TopicPartition


def topic(*partitions: tuple[int, list[int], list[int]]) -> TopicDescription:
    """Partitions by leader, replicas and those in sync."""
    described = [
        PartitionDescription(number, leader, 0, replicas, isr, [])
        for number, (leader, replicas, isr) in enumerate(partitions)
    ]
    return TopicDescription("t", None, False, described, None)


def texts(diagnosis: Diagnosis) -> str:
    return " | ".join(each.text for each in diagnosis.causes)


def test_all_is_well() -> None:
    found = why_partitions([topic((1, [1, 2], [2, 1]))], PartitionFacts("s", [1, 2]))
    assert found.causes == []


def test_a_broker_that_is_down_is_seen_once() -> None:
    state = PartitionFacts("s:1", [1, 2], min_isr={"t": 2})
    found = why_partitions([topic((1, [1, 3], [1]), (2, [2, 3], [2]), (1, [1, 2], [1, 2]))], state)
    down, few = found.causes
    assert down.text == "Broker 3 is down: 2 partitions have a replica there"
    assert down.is_certain
    assert down.command.endswith("--bootstrap-server s:1")
    assert "fewer replicas in sync than min.insync.replicas: t-0, t-1" in few.text


def test_an_unclean_election_is_offered_only_where_a_replica_is_alive_and_is_confirmed() -> None:
    state = PartitionFacts("s", [2])
    found = why_partitions([topic((-1, [1, 2], [1]), (-1, [1, 3], [1, 3]))], state)
    (election,) = (each for each in found.causes if each.remedy is not None)
    assert election.text == "t-0 waits for broker 1, which alone has all records; 2 may lack some"
    assert election.remedy is not None
    assert election.remedy.confirm == "t-0"
    assert election.remedy.body == {
        "type": "unclean",
        "partitions": [{"topic": "t", "partition": 0}],
    }
    assert "Broker 1 is down: 2 partitions" in texts(found)


def test_a_move_is_not_a_slow_broker() -> None:
    state = PartitionFacts("s", [1, 2], moving=[TopicPartition("t", 0)])
    found = why_partitions([topic((1, [1, 2], [1]))], state)
    assert texts(found) == "1 of them are being moved: new replicas are copied first"


def test_a_broker_that_is_up_and_behind_is_slow_or_slowed_down() -> None:
    behind = topic((1, [1, 2], [1]))
    slow = why_partitions([behind], PartitionFacts("s", [1, 2]))
    assert texts(slow) == "Broker 2 is up, but behind in 1 partitions: t-0"
    assert not slow.causes[0].is_certain
    throttled = why_partitions([behind], PartitionFacts("s", [1, 2], throttles={"1": True}))
    assert throttled.causes[0].remedy is not None
    assert throttled.causes[0].remedy.path == ("reassignments", "throttle")
