"""F40 and F41: both replicas of a topic go in turn, and the controller has none of it."""

from confluent_kafka.cimpl import NewTopic

from conformance.our_cluster import until
from faults.fault import fault
from faults.single_topic import read, send
from faults.stage import Stage

_NOBODY = -1
_UNCLEAN = "unclean.leader.election.enable"
_BEFORE = [b"%d" % number for number in range(100)]
_ALONE = [b"%d" % number for number in range(100, 150)]


@fault(settings={_UNCLEAN: "true"})
def f40(stage: Stage) -> None:
    """A topic that forbids unclean elections, where brokers allow them, is made beside a controller
    without a replica of it; both replicas are killed in turn, and only the last one may lead."""
    for index in range(stage.rounds):
        topic = f"strict-{index}"
        last, first = _lose_both(stage, topic, "false")
        stage.start(first)
        stage.until_in_sync_are(*stage.others(last))
        state = stage.cluster.state(topic)
        assert (state.leader, state.isr) == (_NOBODY, (last,)), (
            f"a replica out of sync leads: {state}"
        )
        stage.start(last)
        stage.until_in_sync_are(first, last, topic=topic)
        assert read(stage, topic) == [*_BEFORE, *_ALONE]
        stage.until_whole()


@fault(settings={_UNCLEAN: "false"})
def f41(stage: Stage) -> None:
    """The same with a topic that allows unclean elections, where brokers forbid them: the
    replica that comes back leads, without the records that it missed."""
    for index in range(stage.rounds):
        topic = f"lenient-{index}"
        last, first = _lose_both(stage, topic, "true")
        stage.start(first)
        _until_led_by(stage, topic, first)
        assert read(stage, topic) == _BEFORE
        stage.start(last)
        stage.until_in_sync_are(first, last, topic=topic)
        stage.until_whole()


def _lose_both(stage: Stage, topic: str, is_unclean_allowed: str) -> tuple[int, int]:
    """Kill the follower, then the leader, which has acknowledged more; returns them in reverse."""
    controller = stage.controller()
    leader, follower = stage.others(controller)
    config = {_UNCLEAN: is_unclean_allowed, "min.insync.replicas": "1"}
    made = NewTopic(topic, 1, replica_assignment=[[leader, follower]], config=config)
    until(lambda: stage.has_created(made), f"{topic} is created")
    stage.until_in_sync_are(leader, follower, topic=topic)
    send(stage, topic, _BEFORE)
    stage.kill(follower)
    stage.until_in_sync_are(leader, topic=topic)
    send(stage, topic, _ALONE)
    stage.kill(leader)
    _until_led_by(stage, topic, _NOBODY)
    assert stage.controller() == controller
    return leader, follower


def _until_led_by(stage: Stage, topic: str, number: int) -> None:
    until(lambda: stage.cluster.state(topic).leader == number, f"{number} leads {topic}")
