"""The walk through a cluster as tutorials have it, by commands: three brokers, one is killed."""

import os
import re
import signal
import subprocess
from pathlib import Path

from conformance.apache.cache import CLONE
from conformance.apache.marks import needs_apache
from conformance.our_cluster import OurCluster, our_cluster, until

pytestmark = needs_apache("kafka-3.9")

DEADLINE_S = 120
TOPIC = "my-replicated-topic"
MESSAGES = [f"my test message {number}" for number in range(1, 4)]


def command(cluster: OurCluster, script: str, *arguments: str, typed: str = "") -> str:
    """What a script of the clone prints when it is asked about the cluster."""
    done = subprocess.run(
        [str(CLONE / "bin" / script), "--bootstrap-server", cluster.bootstrap, *arguments],
        input=typed,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def described(cluster: OurCluster) -> tuple[int, list[int], list[int]]:
    """Leader, replicas and who is in sync, as the command tells it."""
    output = command(cluster, "kafka-topics.sh", "--describe", "--topic", TOPIC)
    assert "PartitionCount: 1\tReplicationFactor: 3" in output
    found = re.search(r"Partition: 0\tLeader: (\d)\tReplicas: ([\d,]+)\tIsr: ([\d,]+)", output)
    assert found, output
    replicas, in_sync = (sorted(map(int, found[index].split(","))) for index in (2, 3))
    return int(found[1]), replicas, in_sync


def test_everything_is_read_after_the_leader_was_killed(tmp_path: Path) -> None:
    with our_cluster(tmp_path) as cluster:
        sizes = ["--replication-factor", "3", "--partitions", "1"]
        created = command(cluster, "kafka-topics.sh", "--create", *sizes, "--topic", TOPIC)
        assert created == f"Created topic {TOPIC}.\n"
        cluster.until_in_sync(TOPIC)
        before, *rest = described(cluster)
        assert rest == [[1, 2, 3], [1, 2, 3]]
        typed = "".join(f"{one}\n" for one in MESSAGES)
        command(cluster, "kafka-console-producer.sh", "--topic", TOPIC, typed=typed)
        broker = cluster.brokers[before]
        os.kill(broker.process_id, signal.SIGKILL)
        broker.kill()
        remaining = [number for number in (1, 2, 3) if number != before]
        until(lambda: set(cluster.state(TOPIC).isr) == set(remaining), "others are in sync")
        until(lambda: described(cluster)[1:] == ([1, 2, 3], remaining), "it is told so")
        assert described(cluster)[0] in remaining
        read = ["--from-beginning", "--topic", TOPIC, "--max-messages", str(len(MESSAGES))]
        assert command(cluster, "kafka-console-consumer.sh", *read).splitlines() == MESSAGES
