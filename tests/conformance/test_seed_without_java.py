"""The pseudo-cluster of a tutorial where there is no Java: the same lines, the same scripts."""

import socket
from pathlib import Path

from conformance.our_cluster import until
from conformance.seed_lines import FILES
from conformance.test_seed_commands import play_seed, tutorial_cluster

(PSEUDO_CLUSTER,) = (path for path in FILES if path.stem == "003")


def test_the_pseudo_cluster_is_played_without_java(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "no-java")
    (tmp_path / "seeds").mkdir()
    with tutorial_cluster(tmp_path / "seeds", JAVA_HOME=nowhere) as terminal:
        play_seed(PSEUDO_CLUSTER, terminal)
        said = (terminal.directory / "journal" / "zookeeper.out").read_text()
        assert "there is no Java: Moldau's own tree takes ZooKeeper's place" in said
        assert (terminal.directory / "nodes" / "tree.sqlite").exists()
        port = int(terminal.command("localhost:2181").rpartition(":")[2])

    def is_stopped() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) != 0

    until(is_stopped, "zookeeper-server-stop.sh has stopped it")
