"""F11, F12 and F14: brokers and their sessions with ZooKeeper."""

import time

from faults.fault import fault
from faults.stage import SESSION_S, ZOOKEEPER, Stage, party

_AWAY_S = 10.0


@fault(is_linked=True)
def f11(stage: Stage) -> None:
    """The session of each broker in turn expires: leader, controller, follower."""
    for _ in range(stage.rounds):
        for number in stage.cluster.brokers:
            was_controller = stage.controller() == number
            epoch, created = stage.cluster.controller_epoch(), _broker_epoch(stage, number)
            stage.links.cut(party(number), ZOOKEEPER)
            stage.until_gone(number)
            stage.links.mend()
            stage.until_whole()
            assert _broker_epoch(stage, number) > created, "the epoch of its last session"
            assert stage.cluster.controller_epoch() == epoch + was_controller
            stage.load.until_more()


def _broker_epoch(stage: Stage, number: int) -> int:
    """The transaction that created a broker's node."""
    created: int = stage.cluster.tree.get(f"/brokers/ids/{number}")[1].czxid
    return created


@fault()
def f12(stage: Stage) -> None:
    """ZooKeeper is away for longer than a session: what has its leaders goes on."""
    for _ in range(stage.rounds):
        before = stage.state()
        stage.zookeeper.kill()
        deadline = time.monotonic() + _AWAY_S
        while time.monotonic() < deadline:
            stage.load.until_more()
        stage.zookeeper.start()
        stage.load.until_more()
        stage.until_whole()
        assert stage.state().leader_epoch >= before.leader_epoch
    stage.create("after", 3)


@fault(is_linked=True)
def f14(stage: Stage) -> None:
    """A leader is cut off from ZooKeeper alone: another one is elected beside it."""
    for _ in range(stage.rounds):
        before = stage.state()
        stage.links.cut(party(before.leader), ZOOKEEPER)
        stage.until_led_by_another(before)
        stage.load.until_more()
        time.sleep(SESSION_S)
        assert before.leader not in stage.state().isr, "in sync without a session"
        stage.links.mend()
        stage.until_whole()
