"""F8 to F10 and F35: brokers that stand still and go on as if nothing had been."""

import os
import signal
import time

from conformance.our_cluster import until
from faults.fault import fault
from faults.stage import LAG_S, SESSION_S, Stage

_LONG_SESSION_S = 8.0
_STALL_S = 3.0


@fault()
def f8(stage: Stage) -> None:
    """A leader stands still for longer than its session, and goes on."""
    for _ in range(stage.rounds):
        before = stage.state()
        stage.pause(before.leader, 2.5 * SESSION_S)
        stage.until_led_by_another(before)
        stage.load.until_more()
        stage.until_whole()


@fault()
def f9(stage: Stage) -> None:
    """The controller stands still for longer than its session, and goes on."""
    for _ in range(stage.rounds):
        number, epoch = stage.controller(), stage.cluster.controller_epoch()
        stage.pause(number, 2.5 * SESSION_S)
        assert stage.controller() != number, "nobody else has become controller"
        stage.load.until_more()
        stage.until_whole()
        assert stage.cluster.controller_epoch() == epoch + 1
        # What the new one decides is heard by the old one.
        stage.create(f"after-{epoch}", 3)


@fault(settings={"zookeeper.session.timeout.ms": str(int(_LONG_SESSION_S * 1000))})
def f10(stage: Stage) -> None:
    """A follower stands still, for less and for more than it may lag, but not for a session."""
    for _ in range(stage.rounds):
        number = stage.follower()
        owner = stage.cluster.tree.get(f"/brokers/ids/{number}")[1].ephemeralOwner
        seen = len(stage.observer.states[0])
        stage.pause(number, LAG_S / 3)
        stage.load.until_more()
        shrunk = [state for state in stage.observer.states[0][seen:] if number not in state.isr]
        assert shrunk == [], f"put out of sync too early: {shrunk}"
        stage.pause(number, 2 * LAG_S)
        assert number not in stage.state().isr, "in sync after it stood still for too long"
        stage.load.until_more()
        stage.until_whole()
        after = stage.cluster.tree.get(f"/brokers/ids/{number}")[1].ephemeralOwner
        assert after == owner, "its session was to last"


@fault(program="faults.hooked")
def f35(stage: Stage) -> None:
    """The interpreter of each broker in turn is busy for longer than its session."""
    for _ in range(stage.rounds):
        for broker in stage.cluster.brokers.values():
            os.kill(broker.process_id, signal.SIGUSR1)
            time.sleep(_STALL_S)
            stage.load.until_more()
            stage.until_whole()
    until(lambda: stage.cluster.live() == set(stage.cluster.brokers), "all brokers are there")
