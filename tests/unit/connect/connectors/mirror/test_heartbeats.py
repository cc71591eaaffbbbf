"""Heartbeats are written as MirrorMaker writes them, and mirrors carry them on."""

from moldau.connect.connectors.mirror.heartbeats import MirrorHeartbeats
from moldau.connect.connectors.mirror.layouts import heartbeat
from unit.connect.connectors.mirror.mirrored import Clusters, read
from unit.connect.started import until

ALIASES = {"source.cluster.alias": "old", "target.cluster.alias": "new"}


def test_they_are_written_once_an_interval(clusters: Clusters) -> None:
    clusters.worker.put("beats", {**ALIASES, "connector.class": "MirrorHeartbeat"})
    until(lambda: len(read(clusters.new, "heartbeats")) >= 2)
    first, second = read(clusters.new, "heartbeats")[:2]
    assert (first.key, first.value) == heartbeat("old", "new", first.timestamp)
    assert second.timestamp - first.timestamp >= 900
    clusters.delete("beats")


def test_none_are_written_if_none_are_wanted() -> None:
    for name in ("enabled", "emit.heartbeats.enabled"):
        assert MirrorHeartbeats({**ALIASES, name: "false"}).partitions() == []
    [partition] = MirrorHeartbeats(ALIASES).partitions()
    assert partition == {"sourceClusterAlias": "old", "targetClusterAlias": "new"}
