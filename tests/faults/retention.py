"""F31 and F32: logs that lose their beginning, or are made anew, while a replica is away."""

from confluent_kafka import Consumer, Producer, TopicPartition

from conformance.our_cluster import DEADLINE_S, until
from faults.fault import fault
from faults.judging import batches
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
        _send(stage, topic, [b"%0*d" % (_VALUE_BYTES, number) for number in range(_RECORDS)])
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
        found = _read(stage, topic)
        assert [int(value) for value in found] == list(range(_KEPT_FROM, _RECORDS)), found


@fault()
def f32(stage: Stage) -> None:
    """A topic is deleted while a broker is away, and made anew when it is back."""
    for index in range(stage.rounds):
        topic = f"again-{index}"
        stage.create(topic)
        _send(stage, topic, [b"old"] * 100)
        away = stage.others(stage.cluster.state(topic).leader)[0]
        stage.kill(away)
        stage.until_gone(away)
        _delete(stage, topic)
        stage.load.until_more()
        stage.start(away)
        stage.create(topic)
        _send(stage, topic, [b"new"] * 10)
        assert _read(stage, topic) == [b"new"] * 10
        stage.until_whole()


def _delete(stage: Stage, topic: str) -> None:
    until(lambda: stage.has_deleted(topic), f"{topic} is deleted")


def _send(stage: Stage, topic: str, values: list[bytes]) -> None:
    producer = Producer({"bootstrap.servers": stage.cluster.bootstrap, "acks": "all"})
    for value in values:
        producer.produce(topic, value)
        producer.poll(0)
        # Batches of one: deletion then counts in records.
        producer.flush(DEADLINE_S)


def _read(stage: Stage, topic: str) -> list[bytes]:
    """All that can be read of a topic, up to its end."""
    consumer = Consumer(
        {
            "bootstrap.servers": stage.cluster.bootstrap,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[bytes] = []
    try:
        while True:
            message = consumer.poll(DEADLINE_S)
            assert message is not None, "the end did not come"
            if message.error() is not None:
                return found
            found.append(message.value() or b"")
    finally:
        consumer.close()
