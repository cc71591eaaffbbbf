"""F39, F42 and F43: a cluster that changes its brokers, from Apache's to ours and back."""

from collections.abc import Mapping

from faults.either_broker import APACHE, OURS
from faults.fault import fault
from faults.stage import Stage

_LAG_MS = 10_000
# Who stops cleanly is not waited for, least of all until its leader misses it.
_PAUSE_MAX_S = _LAG_MS / 2 / 1000


def _settings(protocol: str) -> Mapping[str, str]:
    # Nobody is to lose a session only because three virtual machines start on a busy one.
    return {
        "inter.broker.protocol.version": protocol,
        "zookeeper.session.timeout.ms": "15000",
        "replica.lag.time.max.ms": str(_LAG_MS),
        # As by default; Apache's are tested without elsewhere, to start and stop quickly.
        "controlled.shutdown.enable": "true",
        "transaction.state.log.replication.factor": "3",
        "transaction.state.log.min.isr": "2",
    }


@fault(settings=_settings("2.4"), program=APACHE, pause_max_s=_PAUSE_MAX_S)
def f39(stage: Stage) -> None:
    """Each of three brokers of Apache Kafka 3.9 is replaced by one of ours, under load, and later
    each of ours by Apache's; either side is controller of the mixed cluster."""
    _roll(stage)


@fault(settings=_settings("3.9"), program=APACHE, pause_max_s=_PAUSE_MAX_S)
def f42(stage: Stage) -> None:
    """The same as F39 at protocol 3.9, where Apache's brokers have in-sync sets and producer ids
    written by the controller."""
    _roll(stage)


@fault(settings=_settings("3.9"), program=APACHE, pause_max_s=_PAUSE_MAX_S, is_guarded=True)
def f43(stage: Stage) -> None:
    """The same as F42 with TLS, logins by SCRAM, access rules and quotas, each tried at every
    broker after every replacement, whichever kind it is of."""
    _roll(stage)


def _roll(stage: Stage) -> None:
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
        if stage.guard is not None:
            stage.guard.check(stage.cluster)
    assert _kinds(stage) == {after}
    assert stage.controller() != controller


def _kinds(stage: Stage) -> set[str]:
    return {broker.program for broker in stage.cluster.brokers.values()}
