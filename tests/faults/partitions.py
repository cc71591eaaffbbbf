"""F13, F15 and F16: links between brokers that are cut, both ways or one way."""

import time

from conformance.our_cluster import DEADLINE_S
from faults.fault import fault
from faults.load import LIBRDKAFKA
from faults.stage import LAG_S, ZOOKEEPER, Stage, party

# Who waits for an answer that does not come gives up after so long.
_TIMEOUTS = {
    "replica.socket.timeout.ms": "3000",
    "controller.socket.timeout.ms": "3000",
    "request.timeout.ms": "3000",
}


@fault(is_linked=True, settings=_TIMEOUTS, pause_max_s=None)
def f13(stage: Stage) -> None:
    """A leader is cut off from its followers, and all keep their sessions."""
    for index in range(stage.rounds):
        leader = stage.leader()
        others = stage.others(leader)
        stage.links.cut(*map(party, (leader, *others)))
        stage.until_in_sync_are(leader)
        _nothing_is_acknowledged(stage, f"alone-{index}")
        stage.links.mend()
        stage.load.until_more()
        stage.until_whole()


@fault(is_linked=True, settings=_TIMEOUTS)
def f15(stage: Stage) -> None:
    """A leader is cut off from all brokers and ZooKeeper, with a client that only sees it."""
    for index in range(stage.rounds):
        before = stage.state()
        others = [party(number) for number in stage.others(before.leader)]
        captive = f"captive-{index}"
        sender = stage.load.sender(captive, message_timeout_ms=5000)
        stage.links.cut(captive, *others)
        stage.links.cut(party(before.leader), ZOOKEEPER, *others, LIBRDKAFKA)
        for _ in range(20):
            sender.send(0)
        stage.until_led_by_another(before)
        stage.load.until_more()
        assert sender.flush(DEADLINE_S) == 0
        assert sender.acknowledged_at_s == [], "acknowledged by a minority"
        stage.links.mend()
        stage.until_whole()


@fault(is_linked=True, settings=_TIMEOUTS)
def f16(stage: Stage) -> None:
    """A follower receives but cannot send; then its links stall, open but without a byte."""
    for _ in range(stage.rounds):
        number = stage.follower()
        others = [party(other) for other in stage.others(number)]
        for cut in (stage.links.mute, stage.links.cut):
            for other in others:
                cut(party(number), other)
            stage.until_in_sync_are(*stage.others(number))
            stage.load.until_more()
            time.sleep(LAG_S)
            stage.links.mend()
            stage.until_whole()


def _nothing_is_acknowledged(stage: Stage, name: str) -> None:
    sender = stage.load.sender(name, message_timeout_ms=1500)
    for _ in range(5):
        sender.send(0)
    assert sender.flush(DEADLINE_S) == 0
    assert sender.acknowledged_at_s == [], "acknowledged by one of three"
