"""F31 and F32: logs that lose their beginning, or are made anew, while a replica is away."""

from confluent_kafka import TopicPartition

from conformance.our_cluster import DEADLINE_S, until
from faults.fault import fault
from faults.judging import batches
from faults.single_topic import read, send
from faults.stage import Stage

_RECORDS = 200
_KEPT_FROM = 150
_SEGMENT_RECORDS = 20
_VALUE_BYTES = 1000


@fault(pause_max_s=None)
def f31(stage: Stage) -> None:
    """A follower is away while segments roll and DeleteRecords takes most of them; it comes back
    when the leader has died."""
    for index in range(stage.rounds):
        topic = f"trimmed-{index}"
        stage.create(topic, segment_bytes=str(_SEGMENT_RECORDS * _VALUE_BYTES))
        leader = stage.cluster.state(topic).leader
        away, other = stage.others(leader)
        stage.kill(away)
        send(stage, topic, [b"%0*d" % (_VALUE_BYTES, number) for number in range(_RECORDS)])
        stage.until_in_sync_are(leader, other, topic=topic)
        kept = TopicPartition(topic, 0, _KEPT_FROM)
        admin = stage.admin()
        admin.delete_records([kept])[kept].result(DEADLINE_S)
        stage.kill(leader)
        stage.until_in_sync_are(other, topic=topic)
        stage.start(away)
        stage.until_in_sync_are(away, other, topic=topic)
        first = batches(stage.cluster.brokers[away].log_directory / f"{topic}-0")[0]
        assert first.base_offset >= _KEPT_FROM - _SEGMENT_RECORDS, f"it has {first.base_offset}"
        stage.start(leader)
        stage.cluster.until_in_sync(topic)
        found = read(stage, topic)
        assert [int(value) for value in found] == list(range(_KEPT_FROM, _RECORDS)), found


@fault()
def f32(stage: Stage) -> None:
    """A topic is deleted while a broker is away, and made anew when it is back."""
    for index in range(stage.rounds):
        topic = f"again-{index}"
        stage.create(topic)
        send(stage, topic, [b"old"] * 100)
        away = stage.others(stage.cluster.state(topic).leader)[0]
        stage.kill(away)
        stage.until_gone(away)
        _delete(stage, topic)
        stage.load.until_more()
        stage.start(away)
        stage.create(topic)
        send(stage, topic, [b"new"] * 10)
        assert read(stage, topic) == [b"new"] * 10
        stage.until_whole()


def _delete(stage: Stage, topic: str) -> None:
    until(lambda: stage.has_deleted(topic), f"{topic} is deleted")
