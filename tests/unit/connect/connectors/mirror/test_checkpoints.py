"""Groups go on at the target where they were in the source."""

import threading
from contextlib import suppress

import pytest

from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.connect.connectors.mirror.checkpoints import MirrorCheckpoints
from moldau.connect.connectors.mirror.layouts import Checkpoint
from moldau.connect.errors import ConnectError
from moldau.testing.broker import EmbeddedBroker
from unit.connect.connectors.mirror.mirrored import (
    IDENTITY,
    Clusters,
    create,
    place,
    read,
    texts,
    write,
)
from unit.connect.started import until

QUICK = {
    "emit.checkpoints.interval.seconds": "1",
    "sync.group.offsets.interval.seconds": "1",
    "sync.group.offsets.enabled": "true",
}


def checkpoint(clusters: Clusters, name: str, topics: str, groups: str, **more: str) -> None:
    given = {**clusters.settings(topics, **more), **QUICK, "groups": groups}
    clusters.worker.put(name, {**given, "connector.class": "MirrorCheckpoint"})


def consume(kafka: EmbeddedBroker, topic: str, group: str, count: int) -> list[bytes | None]:
    """So many records in a group, which commits; other numbers of polls than one record each."""
    with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, group_id=group, auto_offset_reset="earliest",
        enable_auto_commit=False, isolation_level="read_committed",
    ) as consumer:  # fmt: skip
        consumer.subscribe([topic])
        found: list[bytes | None] = []
        while len(found) < count:
            found += [each.value for each in consumer.poll(1, max_records=count - len(found))]
        consumer.commit()
    return found


def committed(kafka: EmbeddedBroker, group: str, topic: str) -> int | None:
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        found = admin.list_group_offsets(group).succeeded.get(group, {}).get(place(topic))
    return None if found is None else found.offset


@pytest.mark.parametrize("location", ["source", "target"])
def test_a_group_goes_on_without_loss_and_without_repeats(
    clusters: Clusters, location: str
) -> None:
    """Offsets differ: aborted and committed transactions, a log that begins late."""
    topic, group = f"moved-{location}", f"movers-{location}"
    create(clusters.old, topic)
    write(clusters.old, topic, range(-5, 0))
    with Admin(bootstrap_servers=clusters.old.bootstrap_servers) as admin:
        admin.delete_records({place(topic): 5}).check()
    with Producer[bytes, bytes](
        bootstrap_servers=clusters.old.bootstrap_servers, transactional_id=topic
    ) as producer:
        for number in range(30):
            with suppress(KeyError), producer.transaction():
                producer.send(topic, b"%d" % number)
                if number % 3 == 0:
                    producer.send(topic, b"aborted")
            with suppress(KeyError), producer.transaction():
                producer.send(topic, b"aborted")
                producer.flush()
                raise KeyError
    values = [each.value for each in read(clusters.old, topic)]
    read_there = consume(clusters.old, topic, group, 17)
    also = {"offset-syncs.topic.location": location, "offset.lag.max": "0"}
    clusters.mirror(topic, topic, replication_policy_class=IDENTITY, **also)
    clusters.until_copied(topic, values)
    checkpoint(clusters, group, topic, group, replication_policy_class=IDENTITY, **also)
    until(lambda: committed(clusters.new, group, topic) is not None, clusters.statuses)
    rest = consume(clusters.new, topic, group, len(values) - 17)
    assert [*read_there, *rest] == values
    write(clusters.old, topic, ["later"])
    assert consume(clusters.new, topic, group, 1) == [b"later"]
    for name in (topic, group):
        clusters.delete(name)


def test_a_group_at_the_end_is_at_the_end(clusters: Clusters) -> None:
    write(clusters.old, "ended", range(300))
    consume(clusters.old, "ended", "enders", 300)
    clusters.mirror("ended", "ended")
    clusters.until_copied("old.ended", texts(range(300)))
    checkpoint(clusters, "ended-groups", "ended", "enders")
    until(lambda: committed(clusters.new, "enders", "old.ended") == 300, clusters.statuses)
    # Others can translate by the checkpoints, too.
    until(lambda: bool(read(clusters.new, "old.checkpoints.internal")))
    found = [
        Checkpoint.decoded(each.key or b"", each.value or b"")
        for each in read(clusters.new, "old.checkpoints.internal")
    ]
    assert Checkpoint("enders", place("old.ended"), 300, 300) in found
    # It goes on with the group, and is never turned back.
    write(clusters.old, "ended", range(300, 310))
    consume(clusters.old, "ended", "enders", 4)
    clusters.until_copied("old.ended", texts(range(310)))
    until(lambda: (committed(clusters.new, "enders", "old.ended") or 0) > 300)
    assert committed(clusters.new, "enders", "old.ended") == 305, "one marker, four records"
    with Admin(bootstrap_servers=clusters.old.bootstrap_servers) as admin:
        admin.alter_group_offsets("enders", {place("ended"): 2}).check()
    until(lambda: Checkpoint("enders", place("old.ended"), 2, 2) in checkpoints(clusters))
    assert committed(clusters.new, "enders", "old.ended") == 305
    for name in ("ended", "ended-groups"):
        clusters.delete(name)


def checkpoints(clusters: Clusters) -> list[Checkpoint]:
    return [
        Checkpoint.decoded(each.key or b"", each.value or b"")
        for each in read(clusters.new, "old.checkpoints.internal")
    ]


def test_a_group_that_is_in_use_at_the_target_keeps_its_offsets(
    clusters: Clusters, caplog: pytest.LogCaptureFixture
) -> None:
    write(clusters.old, "used", range(10))
    for group in ("users", "idlers"):
        consume(clusters.old, "used", group, 9)
    clusters.mirror("used", "used")
    clusters.until_copied("old.used", texts(range(10)))
    ends = threading.Event()
    with Consumer[bytes, bytes](
        bootstrap_servers=clusters.new.bootstrap_servers, group_id="users",
        auto_offset_reset="earliest", enable_auto_commit=False,
    ) as consumer:  # fmt: skip
        consumer.subscribe(["old.used"])
        while not consumer.poll(0.2):
            ends.wait(0)
        checkpoint(clusters, "used-groups", "used", "users|idlers")
        until(lambda: committed(clusters.new, "idlers", "old.used") == 9, clusters.statuses)
        assert committed(clusters.new, "users", "old.used") is None
        assert "keeps its offset" not in caplog.text, "the broker was not even asked"
    until(lambda: committed(clusters.new, "users", "old.used") == 9, clusters.statuses)
    for name in ("used", "used-groups"):
        clusters.delete(name)


def test_groups_and_topics_that_are_left_out_have_no_checkpoints(clusters: Clusters) -> None:
    for topic in ("left-a", "left-b"):
        write(clusters.old, topic, range(3))
        for group in ("left-in", "left-out"):
            consume(clusters.old, topic, group, 3)
    clusters.mirror("left", "left-.*")
    for topic in ("left-a", "left-b"):
        clusters.until_copied(f"old.{topic}", texts(range(3)))
    checkpoint(clusters, "left-groups", "left-a", "left-in")
    until(lambda: committed(clusters.new, "left-in", "old.left-a") == 3, clusters.statuses)
    found = {(each.group, each.partition.topic) for each in checkpoints(clusters)}
    assert {each for each in found if each[0].startswith("left")} == {("left-in", "old.left-a")}
    assert committed(clusters.new, "left-in", "old.left-b") is None
    for name in ("left", "left-groups"):
        clusters.delete(name)


def test_nothing_is_done_if_nothing_is_wanted(clusters: Clusters) -> None:
    for name in ("enabled", "emit.checkpoints.enabled"):
        assert MirrorCheckpoints({**clusters.settings("t"), name: "false"}).partitions() == []
    tried = MirrorCheckpoints(clusters.settings("t"))
    assert tried.partitions() == [{"cluster": "old"}]
    assert tried.read({"cluster": "old"}, None, 10) is None, "without a target"
    tried.check_offset({"cluster": "old"}, {"offset": 0})
    with pytest.raises(ConnectError, match="offsets of checkpoints are 0"):
        tried.check_offset({"cluster": "old"}, {"offset": 5})
    tried.close()
