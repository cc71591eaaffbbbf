"""F39: a cluster that changes its brokers, from Apache's to ours and back."""

from collections.abc import Mapping

from faults.either_broker import APACHE, OURS
from faults.fault import fault
from faults.stage import Stage

# Nobody is to lose a session only because three virtual machines start on a busy one.
_SETTINGS: Mapping[str, str] = {
    "inter.broker.protocol.version": "2.4",
    "zookeeper.session.timeout.ms": "15000",
    "replica.lag.time.max.ms": "10000",
}


@fault(settings=_SETTINGS, program=APACHE, pause_max_s=None)
def f39(stage: Stage) -> None:
    """Each of three brokers of Apache Kafka 3.9 is replaced by one of ours, under load, and later
    each of ours by Apache's; either side is controller of the mixed cluster."""
    epoch = stage.cluster.controller_epoch()
    for _ in range(stage.rounds):
        _replace_all(stage, APACHE, OURS)
        _replace_all(stage, OURS, APACHE)
    risen = stage.cluster.controller_epoch() - epoch
    assert risen >= 2 * stage.rounds, f"only {risen} other controllers"
    assert stage.load.errors == [], stage.load.errors
    stage.notes.append(f"{risen} other controllers")


def _replace_all(stage: Stage, before: str, after: str) -> None:
    """The controller comes last, so that it is controller of both kinds meanwhile."""
    controller = stage.controller()
    assert _kinds(stage) == {before}
    for number in [*stage.others(controller), controller]:
        assert stage.controller() == controller, "there was no reason for another controller"
        broker = stage.cluster.brokers[number]
        broker.stop()
        broker.program = after
        broker.start()
        stage.until_whole()
        stage.load.until_more()
    assert _kinds(stage) == {after}
    assert stage.controller() != controller


def _kinds(stage: Stage) -> set[str]:
    return {broker.program for broker in stage.cluster.brokers.values()}
