"""What kcat prints of a cluster, as text and as JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping

from moldau.client.admin.description import ClusterDescription
from moldau.client.admin.topics import TopicDescription
from moldau.client.offset_lookup import FoundOffset
from moldau.model import TopicPartition


def cluster_lines(
    cluster: ClusterDescription, topics: Iterable[TopicDescription], asked: str
) -> Iterator[str]:
    """Brokers, topics and partitions."""
    described = list(topics)
    first = cluster.brokers[0]
    where = f"{first.host}:{first.port}/{first.node_id}"
    yield f"Metadata for {asked or 'all topics'} (from broker {first.node_id}: {where}):"
    yield f" {len(cluster.brokers)} brokers:"
    for broker in cluster.brokers:
        mark = " (controller)" if broker.node_id == cluster.controller_id else ""
        yield f"  broker {broker.node_id} at {broker.host}:{broker.port}{mark}"
    yield f" {len(described)} topics:"
    for topic in described:
        yield f'  topic "{topic.name}" with {len(topic.partitions)} partitions:'
        for each in topic.partitions:
            replicas, isr = (",".join(map(str, ids)) for ids in (each.replicas, each.isr))
            yield (
                f"    partition {each.partition}, leader {each.leader}, "
                f"replicas: {replicas}, isrs: {isr}"
            )


def cluster_json(
    cluster: ClusterDescription, topics: Iterable[TopicDescription], asked: str
) -> str:
    """The same for programs."""
    first = cluster.brokers[0]
    data = {
        "originating_broker": {
            "id": first.node_id,
            "name": f"{first.host}:{first.port}/{first.node_id}",
        },
        "query": {"topic": asked or "*"},
        "controllerid": cluster.controller_id,
        "brokers": [
            {"id": each.node_id, "name": f"{each.host}:{each.port}"} for each in cluster.brokers
        ],
        "topics": [
            {
                "topic": topic.name,
                "partitions": [
                    {
                        "partition": each.partition,
                        "leader": each.leader,
                        "replicas": [{"id": broker} for broker in each.replicas],
                        "isrs": [{"id": broker} for broker in each.isr],
                    }
                    for each in topic.partitions
                ],
            }
            for topic in topics
        ],
    }
    return json.dumps(data, separators=(",", ":"))


def offsets_json(found: Mapping[TopicPartition, FoundOffset]) -> str:
    """Offsets of times by topic and partition."""
    topics: dict[str, dict[str, object]] = {}
    for each, at in found.items():
        topic = topics.setdefault(each.topic, {"topic": each.topic})
        topic[str(each.partition)] = {"partition": each.partition, "offset": at.offset}
    return json.dumps(topics, separators=(",", ":"))
