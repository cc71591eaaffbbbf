"""Print the cluster's id; layouts are in the transcripts."""

import json

from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run


def test_the_id_is_told_as_json_too(broker: EmbeddedBroker, bootstrap: str) -> None:
    done = run("cluster", "cluster-id", bootstrap, "--format", "json")
    assert len(json.loads(done.stdout)["cluster_id"]) == 22


def test_what_to_do_must_be_said(bootstrap: str) -> None:
    assert run("cluster", bootstrap).code == 1
    done = run("cluster", "unregister", bootstrap)
    assert done.stderr == 'Missing required argument "[id]"\n'


def test_a_controller_is_not_asked() -> None:
    done = run("cluster", "cluster-id", "--bootstrap-controller", "c:1")
    assert (done.code, done.stderr.count("\n")) == (1, 1)
    assert "use --bootstrap-server" in done.stderr
