"""MirrorMaker 2 copies a cluster on KRaft to a broker of ours, with settings and offsets."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.apache.jars import class_path
from conformance.apache.jvm import java_command
from conformance.apache.kraft import kraft_broker
from conformance.our_broker import our_broker
from moldau.client.admin.configs import ConfigResource
from moldau.client.admin.topics import NewTopic
from moldau.client.blocking import Admin, Consumer, Producer
from neighbours.reading import records_of

COUNT = 1000
DEADLINE_S = 120
TOPIC, GROUP, PARTITIONS = "orders", "billing", 3
SETTINGS = """\
clusters = old, new
old.bootstrap.servers = {old}
new.bootstrap.servers = {new}
old->new.enabled = true
old->new.topics = .*
old->new.groups = .*
replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy
sync.group.offsets.enabled = true
new.exactly.once.source.support = enabled
replication.factor = 1
checkpoints.topic.replication.factor = 1
heartbeats.topic.replication.factor = 1
offset-syncs.topic.replication.factor = 1
config.storage.replication.factor = 1
offset.storage.replication.factor = 1
status.storage.replication.factor = 1
emit.checkpoints.interval.seconds = 1
sync.group.offsets.interval.seconds = 1
refresh.topics.interval.seconds = 1
refresh.groups.interval.seconds = 1
sync.topic.configs.interval.seconds = 1
offset.lag.max = 0
"""


def mirror_cluster(directory: Path) -> None:
    """Records, a topic's setting and a group's offsets arrive; those that come later do, too."""
    with (
        kraft_broker(directory / "old", jars="kafka-4") as old,
        our_broker(directory / "new") as new,
    ):
        fill(old.bootstrap, range(COUNT))
        before = consume(old.bootstrap, COUNT // 2)
        with mirror_maker(directory, old.bootstrap, new.bootstrap) as log:
            wait_until("records", lambda: copied(new.bootstrap) == set(range(COUNT)), log)
            fill(old.bootstrap, range(COUNT, COUNT + 100))
            wait_until("later ones", lambda: len(copied(new.bootstrap)) == COUNT + 100, log)
            wait_until("a setting", lambda: retention(new.bootstrap) == "86400000", log)
            wait_until("offsets", lambda: committed(new.bootstrap) >= COUNT // 2, log)
            go_on(new.bootstrap, set(range(COUNT + 100)) - before)


@contextmanager
def mirror_maker(directory: Path, old: str, new: str) -> Iterator[Path]:
    """A running MirrorMaker; yields its log."""
    settings, log = directory / "mm2.properties", directory / "mm2.log"
    settings.write_text(SETTINGS.format(old=old, new=new))
    main_class = "org.apache.kafka.connect.mirror.MirrorMaker"
    with log.open("wb") as output:
        process = subprocess.Popen(
            java_command(class_path("mirror-3.9"), main_class, str(settings)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield log
    finally:
        process.kill()
        process.wait()


def fill(bootstrap: str, numbers: range) -> None:
    """Write numbers to the topic, which is created with a setting of its own."""
    with Admin(bootstrap_servers=bootstrap) as admin:
        if TOPIC not in admin.list_topics():
            topic = NewTopic(TOPIC, PARTITIONS, 1, configs={"retention.ms": "86400000"})
            admin.create_topics([topic]).check()
    with Producer(bootstrap_servers=bootstrap) as producer:
        for number in numbers:
            producer.send(TOPIC, str(number), key=str(number % 10))


def consume(bootstrap: str, count: int) -> set[int]:
    """Read some records in a group, and commit."""
    with Consumer(
        bootstrap_servers=bootstrap, group_id=GROUP, auto_offset_reset="earliest"
    ) as consumer:
        consumer.subscribe([TOPIC])
        read = [record for _, record in zip(range(count), consumer, strict=False)]
    return {int(record.value or b"") for record in read}


def go_on(bootstrap: str, missing: set[int]) -> None:
    """Read in the group until nothing is missing; some may come a second time."""
    deadline = time.monotonic() + DEADLINE_S
    with Consumer(
        bootstrap_servers=bootstrap, group_id=GROUP, auto_offset_reset="earliest"
    ) as consumer:
        consumer.subscribe([TOPIC])
        while missing:
            if time.monotonic() > deadline:
                raise AssertionError(f"the group missed {len(missing)} records")
            missing -= {int(record.value or b"") for record in consumer.poll(0.5)}


def copied(bootstrap: str) -> set[int]:
    """The numbers that the topic has; none if it is not there yet."""
    return {int(record.value or b"") for record in records_of(bootstrap, TOPIC)}


def retention(bootstrap: str) -> str | None:
    with Admin(bootstrap_servers=bootstrap) as admin:
        described = admin.describe_configs([ConfigResource.topic(TOPIC)])
        return described[ConfigResource.topic(TOPIC)]["retention.ms"].value


def committed(bootstrap: str) -> int:
    """The sum of the group's offsets."""
    with Admin(bootstrap_servers=bootstrap) as admin:
        if GROUP not in {group.group_id for group in admin.list_groups()}:
            return 0
        return sum(each.offset for each in admin.list_group_offsets(GROUP)[GROUP].values())


def wait_until(what: str, is_so: Callable[[], bool], log: Path) -> None:
    """Wait for a condition, or fail with its name and the end of a log."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: given up after two minutes\n" + log.read_text()[-3000:])
        time.sleep(0.5)
