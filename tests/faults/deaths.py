"""F1 to F7: brokers that die or stop."""

import random
from collections.abc import Sequence

from confluent_kafka.cimpl import NewTopic

from conformance.our_cluster import DEADLINE_S, until
from faults.fault import fault
from faults.judging import log_end
from faults.stage import Stage
from moldau.coordination.layout.topics import PartitionAssignment, decode_topic, topic_path
from moldau.errors import ErrorCode
from moldau.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from moldau.testing.wire import WireClient
from simulation.client import TOPIC

_MISSED_BYTES = 5 << 20
_RECORD_BYTES = 10_000
_CLEAN = ".kafka_cleanshutdown"


@fault()
def f1(stage: Stage) -> None:
    """A leader is killed, and started again after its session has expired."""
    for _ in range(stage.rounds):
        before = stage.state()
        stage.kill(before.leader)
        stage.until_led_by_another(before)
        stage.until_gone(before.leader)
        stage.load.until_more()
        stage.start(before.leader)
        stage.until_whole()


@fault()
def f2(stage: Stage) -> None:
    """A leader is killed, and started again before its session has expired."""
    for _ in range(stage.rounds):
        number = stage.leader()
        path = f"/brokers/ids/{number}"
        _, first = stage.cluster.tree.get(path)
        stage.kill(number)
        stage.start(number)
        _, second = stage.cluster.tree.get(path)
        assert first.ephemeralOwner != second.ephemeralOwner, "it runs in the dead one's session"
        stage.load.until_more()
        stage.until_whole()


@fault()
def f3(stage: Stage) -> None:
    """A follower is killed, misses 5 MB, and is started again."""
    for index in range(stage.rounds):
        number = stage.follower()
        stage.kill(number)
        stage.until_in_sync_are(*stage.others(number))
        sender = stage.load.sender(f"filling-{index}")
        for _ in range(_MISSED_BYTES // _RECORD_BYTES):
            sender.send(0, padding="." * _RECORD_BYTES)
        assert sender.flush(DEADLINE_S) == 0
        stage.start(number)
        _rejoins_with_everything(stage, number)


def _rejoins_with_everything(stage: Stage, number: int) -> None:
    """A follower is in sync again only when it has all that was committed before."""
    path = stage.cluster.brokers[number].log_directory / f"{TOPIC}-0"

    def look() -> bool:
        committed = stage.load.acknowledged_end(0)
        if number not in stage.state().isr:
            return False
        end = log_end(path)
        assert end >= committed, f"in sync with {end}, when {committed} was acknowledged"
        return True

    until(look, f"{number} is in sync again")


@fault()
def f4(stage: Stage) -> None:
    """The controller is killed while topics are made, deleted and moved."""
    for index in range(stage.rounds):
        _kill_a_busy_controller(stage, index)


def _kill_a_busy_controller(stage: Stage, index: int) -> None:
    made, deleted, moved = f"made-{index}", f"deleted-{index}", f"moved-{index}"
    stage.create(deleted, 3)
    stage.create(moved)
    number = stage.controller()
    staying, coming = stage.others(number)
    _move(stage, moved, [number, staying])
    until(lambda: _holders(stage, moved) == {number, staying}, f"{moved} has two replicas")
    epoch = stage.cluster.controller_epoch()
    admin = stage.admin()
    futures = [
        *admin.create_topics([NewTopic(made, 6, 3)]).values(),
        *admin.delete_topics([deleted]).values(),
    ]
    # All are nodes in the tree now, or will never be; the rest is the next controller's.
    for future in futures:
        assert future.exception(DEADLINE_S) is None
    with stage.standing_still(coming):
        # It is registered for a while, so it is moved there, but does not come into sync.
        _move(stage, moved, [coming, staying])
        assert _assignment(stage, moved).adding == (coming,)
        stage.kill(number)
    until(lambda: stage.cluster.controller() not in (number, None), "another controller")
    assert stage.cluster.controller_epoch() == epoch + 1
    stage.load.until_more()
    stage.start(number)
    stage.cluster.until_in_sync(made, 6)
    until(lambda: _holders(stage, moved) == {coming, staying}, f"{moved} is where it should be")
    until(
        lambda: _assignment(stage, moved) == PartitionAssignment(replicas=(coming, staying)),
        f"{moved} does not move any more",
    )
    until(lambda: not _holders(stage, deleted), f"{deleted} is gone everywhere")
    stage.until_whole()


def _move(stage: Stage, topic: str, replicas: Sequence[int]) -> None:
    """Ask the controller to move a partition."""
    partition = ReassignablePartition(partition_index=0, replicas=list(replicas))
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=topic, partitions=[partition])]
    )
    with WireClient(stage.cluster.brokers[stage.controller()].bootstrap) as client:
        answer = client.ask(request)
    assert answer.responses[0].partitions[0].error_code == ErrorCode.NONE


def _assignment(stage: Stage, topic: str) -> PartitionAssignment:
    """Where a partition is, and where it goes."""
    data, _ = stage.cluster.tree.get(topic_path(topic))
    return decode_topic(data).partitions[0]


def _holders(stage: Stage, topic: str) -> set[int]:
    """The brokers that have something of a topic."""
    return {
        number
        for number, broker in stage.cluster.brokers.items()
        if any(broker.log_directory.glob(f"{topic}-?"))
    }


@fault(pause_max_s=10.0)
def f5(stage: Stage) -> None:
    """A leader is stopped: others lead first what it leads."""
    for _ in range(stage.rounds):
        before = stage.state()
        broker = stage.cluster.brokers[before.leader]
        broker.stop()
        after = stage.state()
        assert after.leader not in (before.leader, -1), "it was not handed over in time"
        assert (broker.log_directory / _CLEAN).exists(), "it did not end well"
        stage.load.until_more()
        broker.start()
        stage.until_whole()
    assert stage.load.errors == [], stage.load.errors


@fault(pause_max_s=None)
def f6(stage: Stage) -> None:
    """Two of three brokers are killed: nothing is acknowledged until they are back."""
    for index in range(stage.rounds):
        leader = stage.leader()
        others = stage.others(leader)
        stage.kill(*others)
        stage.until_in_sync_are(leader)
        hasty = stage.load.sender(f"hasty-{index}", message_timeout_ms=1500)
        for _ in range(5):
            hasty.send(0)
        assert hasty.flush(DEADLINE_S) == 0
        assert hasty.acknowledged_at_s == [], "acknowledged by one of three"
        stage.start(*others)
        stage.load.until_more()
        stage.until_whole()


@fault(pause_max_s=None)
def f7(stage: Stage) -> None:
    """All brokers are killed at once, and started in any order."""
    for index in range(stage.rounds):
        numbers = list(stage.cluster.brokers)
        stage.kill(*numbers)
        random.Random(index).shuffle(numbers)
        stage.start(*numbers)
        stage.load.until_more()
        stage.until_whole()
