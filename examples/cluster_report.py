"""Prints what a cluster has: brokers, topics, groups and how far behind they are.

python examples/cluster_report.py localhost:9092
"""

import sys

from moldau.client.blocking import Admin
from moldau.client.offset_lookup import LATEST


def report(servers: str) -> None:
    with Admin(bootstrap_servers=servers) as admin:
        cluster = admin.describe_cluster()
        print(f"cluster {cluster.cluster_id}, controller {cluster.controller_id}")
        for broker in cluster.brokers:
            print(f"  broker {broker.node_id} at {broker.host}:{broker.port}")
        for name, topic in admin.describe_topics(admin.list_topics()).items():
            print(f"topic {name}: {len(topic.partitions)} partitions")
        for group in admin.list_groups():
            print(
                f"group {group.group_id}: {group.state or 'unknown'}, {lag(admin, group.group_id)}"
            )


def lag(admin: Admin, group_id: str) -> str:
    """How many offsets the group has still to read, where it has read anything."""
    committed = admin.list_group_offsets(group_id)[group_id]
    ends = admin.list_offsets(dict.fromkeys(committed, LATEST)).succeeded
    behind = sum(end.offset - committed[partition].offset for partition, end in ends.items())
    return f"{behind} behind in {len(ends)} partitions"


if __name__ == "__main__":
    report(sys.argv[1] if len(sys.argv) > 1 else "localhost:9092")
