"""Print how large replicas are and where they lie; layouts are in the transcripts."""

import json

from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run


def test_sizes_and_directories_are_told(broker: EmbeddedBroker, bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "a", stdin="x\n")
    done = run("log-dirs", bootstrap, "--describe", "--topic-list", "a")
    (found,) = json.loads(done.stdout.splitlines()[-1])["brokers"]
    (directory,) = found["logDirs"]
    assert (directory["logDir"], directory["error"]) == (str(broker.directory), None)
    (replica,) = directory["partitions"]
    assert (replica["partition"], replica["size"] > 0) == ("a-0", True)


def test_broker_numbers_are_expected(bootstrap: str) -> None:
    done = run("log-dirs", bootstrap, "--describe", "--broker-list", "x")
    assert done.stderr == "--broker-list: x are no numbers\n"
