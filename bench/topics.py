"""Ten thousand topics on Moldau's own tree: how long, and how much memory.

bin/bench topics [topics] [brokers]

They are made by one client, 500 at a time, with a replica on each of the brokers of
`moldau serve --brokers`, three unless told; then all is stopped and started again.
"""

import sys
import tempfile
import time
from pathlib import Path

from bench.measure import print_table
from bench.one_machine import Cluster
from confluent_kafka.admin import AdminClient, NewTopic

TOPICS = 10_000
BROKERS = 3
_AT_ONCE = 500
_PATIENCE_S = 120


def create(bootstrap: str, count: int, replicas: int) -> float:
    """How many seconds it takes until all of them are there."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    began = time.perf_counter()
    names = [f"topic-{number:05}" for number in range(count)]
    for start in range(0, count, _AT_ONCE):
        topics = [NewTopic(name, 1, replicas) for name in names[start : start + _AT_ONCE]]
        made = admin.create_topics(topics, request_timeout=_PATIENCE_S)
        for one in made.values():
            one.result(_PATIENCE_S)
    seconds = time.perf_counter() - began
    assert set(names) <= set(admin.list_topics(timeout=_PATIENCE_S).topics)
    return seconds


def main(topics: int, brokers: int) -> None:
    """Measure, and print the table."""
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "data"
        cluster = Cluster(brokers, data)
        bootstrap = ",".join(f"localhost:{port}" for port in cluster.ports.values())
        created_s = create(bootstrap, topics, brokers)
        supervisor_mb = cluster.memory_mb()
        stopped_s = cluster.stop()
        cluster = Cluster(brokers, data)
        again_mb = cluster.memory_mb()
        cluster.stop()
    rows = [
        ("created, s", f"{created_s:.1f}"),
        ("topics/s", f"{topics / created_s:,.0f}"),
        ("supervisor, MB", f"{supervisor_mb:.0f}"),
        ("stop, s", f"{stopped_s:.1f}"),
        ("start again, s", f"{cluster.start_s:.1f}"),
        ("supervisor then, MB", f"{again_mb:.0f}"),
    ]
    print_table(f"{topics:,} topics, {brokers} brokers and replicas", ("", ""), rows)


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    main(*(given + [TOPICS, BROKERS][len(given) :]))
