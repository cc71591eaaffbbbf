"""A cluster of Apache Kafka on KRaft is mirrored: killed in the middle, and after MirrorMaker."""

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from conformance.apache.connect import worker as apache_worker
from conformance.apache.kraft import kraft_broker
from conformance.apache.marks import needs_apache
from conformance.captured_copy import BROKER
from conformance.connect_worker import WorkerProcess, worker_process
from conformance.our_broker import our_broker
from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.model import TopicPartition

pytestmark = needs_apache("kafka-4", "connect-3.9", "mirror-3.9")

SOURCE = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
IDENTITY = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
PARTITIONS = 3
DEADLINE_S = 120


def settings(old: str, new: str, **more: str) -> dict[str, str]:
    """Of a connector that Apache's worker runs as well."""
    named = {name.replace("_", "."): text for name, text in more.items()}
    return {
        "connector.class": SOURCE,
        "source.cluster.alias": "old",
        "target.cluster.alias": "new",
        "source.cluster.bootstrap.servers": old,
        "target.cluster.bootstrap.servers": new,
        "topics": "orders",
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "consumer.poll.timeout.ms": "100",
        "refresh.topics.interval.seconds": "1",
        "tasks.max": "2",
        "key.converter": BYTES,
        "value.converter": BYTES,
        "header.converter": BYTES,
        # MirrorMaker's default would copy what was aborted.
        "source.consumer.isolation.level": "read_committed",
        **named,
    }


def create(servers: str, topic: str = "orders") -> None:
    with Admin(bootstrap_servers=servers) as admin:
        new = NewTopic(topic, PARTITIONS, 1, configs={"retention.ms": "86400000"})
        admin.create_topics([new]).check()


def fill(servers: str, numbers: range, *, aborts: bool = False) -> None:
    """Numbers in turn to the partitions, in transactions; other ones are aborted."""
    with Producer[bytes, bytes](
        bootstrap_servers=servers, transactional_id=f"fill-{numbers.start}"
    ) as producer:
        for start in range(numbers.start, numbers.stop, 50):
            with producer.transaction():
                for number in range(start, min(start + 50, numbers.stop)):
                    text = b"%d" % number
                    producer.send("orders", text, key=text, partition=number % PARTITIONS)
            if aborts:
                with suppress(KeyError), producer.transaction():
                    producer.send("orders", b"aborted", partition=start % PARTITIONS)
                    producer.flush()
                    raise KeyError


def values(servers: str, topic: str = "orders") -> list[list[int]]:
    """The numbers of each partition, in their order; of a topic that may not be there yet."""
    with Admin(bootstrap_servers=servers) as admin:
        if topic not in admin.list_topics():
            return []
    found: list[list[int]] = [[] for _ in range(PARTITIONS)]
    client: Mapping[str, object] = {
        "bootstrap.servers": servers,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
    }
    with Consumer[bytes, bytes](client) as consumer:
        places = [TopicPartition(topic, each) for each in range(PARTITIONS)]
        ends = consumer.end_offsets(places)
        consumer.assign(dict.fromkeys(places, 0))
        while any(consumer.position(each) < ends[each] for each in places):
            for record in consumer.poll(0.2):
                found[record.partition].append(int(record.value or b"-1"))
    return found


def expected(count: int) -> list[list[int]]:
    return [list(range(partition, count, PARTITIONS)) for partition in range(PARTITIONS)]


def until_copied(servers: str, count: int, topic: str = "orders") -> None:
    """Each once, in its order, in its partition."""
    deadline = time.monotonic() + DEADLINE_S
    while (found := values(servers, topic)) != expected(count):
        counts = Counter(number for each in found for number in each)
        repeated = [number for number, times in counts.items() if times > 1]
        assert not repeated
        assert time.monotonic() < deadline, [len(each) for each in found]


@contextmanager
def filling(servers: str, numbers: range) -> Iterator[None]:
    """Meanwhile, in another thread."""
    thread = threading.Thread(target=fill, args=(servers, numbers), kwargs={"aborts": True})
    thread.start()
    try:
        yield
    finally:
        thread.join()


def copied(servers: str) -> int:
    return sum(map(len, values(servers)))


def test_each_record_is_there_once_after_kills(tmp_path: Path) -> None:
    count, kills = 6000, 3
    with (
        kraft_broker(tmp_path / "old", jars="kafka-4") as old,
        our_broker(tmp_path / "new", BROKER) as new,
    ):
        create(old.bootstrap)
        fill(old.bootstrap, range(count // 2))
        small = {"source.consumer.max.partition.fetch.bytes": "4096"}
        config = settings(old.bootstrap, new.bootstrap, replication_policy_class=IDENTITY)
        with filling(old.bootstrap, range(count // 2, count)):
            for kill in range(kills):
                with worker_process(tmp_path / "worker", new.bootstrap, {}) as worker:
                    worker.rest.put("mirror", {**config, **small})
                    before = copied(new.bootstrap)
                    worker.until(lambda at=before: copied(new.bootstrap) > at)  # type: ignore[misc]
                    worker.kill()
                    assert copied(new.bootstrap) < count, f"kill {kill} was in the middle"
        with worker_process(tmp_path / "worker", new.bootstrap, {}) as worker:
            until_copied(new.bootstrap, count)
            worker.until_states("mirror", ["RUNNING"] * 3)


def test_it_goes_on_after_mirror_maker_and_mirror_maker_after_it(tmp_path: Path) -> None:
    with (
        kraft_broker(tmp_path / "old", jars="kafka-4") as old,
        our_broker(tmp_path / "new", BROKER) as new,
    ):
        create(old.bootstrap)
        fill(old.bootstrap, range(500))
        once = {"exactly.once.source.support": "enabled"}
        with apache_worker(tmp_path / "java", new.bootstrap, once, ("mirror-3.9",)) as java:
            java.put("mirror", settings(old.bootstrap, new.bootstrap))
            until_copied(new.bootstrap, 500, "old.orders")
        fill(old.bootstrap, range(500, 1000), aborts=True)
        # One group and the same topics: its connectors go on here, and there again.
        with worker_process(tmp_path / "ours", new.bootstrap, {"group.id": "connect"}) as ours:
            until_copied(new.bootstrap, 1000, "old.orders")
            assert running(ours, "mirror")
        fill(old.bootstrap, range(1000, 1500))
        with apache_worker(tmp_path / "java", new.bootstrap, once, ("mirror-3.9",)):
            until_copied(new.bootstrap, 1500, "old.orders")


def running(worker: WorkerProcess, name: str) -> bool:
    return set(worker.rest.states(name)) == {"RUNNING"}


def consume(servers: str, topic: str, group: str, count: int) -> list[int]:
    """So many records in a group, which commits."""
    with Consumer[bytes, bytes](
        bootstrap_servers=servers,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level="read_committed",
    ) as consumer:
        consumer.subscribe([topic])
        found: list[int] = []
        while len(found) < count:
            records = consumer.poll(1, max_records=count - len(found))
            found += [int(each.value or b"-1") for each in records]
        consumer.commit()
    return found


def group_offsets(servers: str, group: str) -> dict[TopicPartition, int]:
    with Admin(bootstrap_servers=servers) as admin:
        found = admin.list_group_offsets(group).succeeded.get(group, {})
    return {place: each.offset for place, each in found.items()}


def test_groups_go_on_without_loss_by_our_syncs_and_by_those_of_mirror_maker(
    tmp_path: Path,
) -> None:
    count, read_there = 900, 400
    with (
        kraft_broker(tmp_path / "old", jars="kafka-4") as old,
        our_broker(tmp_path / "new", BROKER) as new,
    ):
        create(old.bootstrap)
        fill(old.bootstrap, range(count), aborts=True)
        before = consume(old.bootstrap, "orders", "group", read_there)
        quick = {
            "emit_checkpoints_interval_seconds": "1",
            "sync_group_offsets_interval_seconds": "1",
            "sync_group_offsets_enabled": "true",
            "groups": "group",
        }
        config = settings(old.bootstrap, new.bootstrap, **quick)
        checkpoints = {
            **config,
            "connector.class": SOURCE.replace("Source", "Checkpoint"),
            "checkpoints.topic.replication.factor": "1",
        }
        once = {"exactly.once.source.support": "enabled"}
        with apache_worker(tmp_path / "java", new.bootstrap, once, ("mirror-3.9",)) as java:
            java.put("mirror", {**config, "offset.lag.max": "0"})
            until_copied(new.bootstrap, count, "old.orders")
        # Its syncs are few, so that the group reads many again; none is passed over.
        with worker_process(tmp_path / "ours", new.bootstrap, {"group.id": "connect"}) as ours:
            ours.rest.put("checkpoints", checkpoints)
            places = {TopicPartition("old.orders", each) for each in range(PARTITIONS)}
            ours.until(lambda: set(group_offsets(new.bootstrap, "group")) == places)
            ours.rest.ask("DELETE", "/connectors/checkpoints")
            ours.rest.ask("DELETE", "/connectors/mirror")
            missing = set(range(count)) - set(before)
            at = group_offsets(new.bootstrap, "group")
            assert missing <= set(from_offsets(new.bootstrap, "old.orders", at))
            # Ours are exact: a second copy of the same, and another group.
            consume(old.bootstrap, "orders", "second", read_there)
            own = {**config, "replication.policy.class": IDENTITY, "offset.lag.max": "0"}
            ours.rest.put("own", {**own, "offset-syncs.topic.location": "target"})
            until_copied(new.bootstrap, count)
            more = {**checkpoints, **own, "groups": "second"}
            more["connector.class"] = checkpoints["connector.class"]
            ours.rest.put("again", {**more, "offset-syncs.topic.location": "target"})
            ours.until(lambda: len(group_offsets(new.bootstrap, "second")) == PARTITIONS)
            at = group_offsets(new.bootstrap, "second")
            found = from_offsets(new.bootstrap, "orders", at)
            assert len(found) == count - read_there, "exactly what it has not read"


def from_offsets(servers: str, topic: str, offsets: Mapping[TopicPartition, int]) -> list[int]:
    """What a reader of these partitions finds from there on."""
    found: list[int] = []
    with Consumer[bytes, bytes](
        bootstrap_servers=servers, isolation_level="read_committed"
    ) as consumer:
        assert {place.topic for place in offsets} == {topic}
        ends = consumer.end_offsets(offsets)
        consumer.assign(offsets)
        while any(consumer.position(each) < ends[each] for each in offsets):
            found += [int(record.value or b"-1") for record in consumer.poll(0.2)]
    return found
