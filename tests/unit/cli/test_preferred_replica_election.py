"""Let preferred replicas lead again, as before 3.0."""

from pathlib import Path

from unit.cli.command import run


def test_all_partitions_or_those_of_a_file(bootstrap: str, tmp_path: Path) -> None:
    assert run("kafka-preferred-replica-election.sh", bootstrap) == (0, "", "")
    run("topics", bootstrap, "--create", "--topic", "a")
    file = tmp_path / "election.json"
    file.write_text('{"partitions": [{"topic": "a", "partition": 0}]}')
    done = run("preferred-replica-election", bootstrap, "--path-to-json-file", str(file))
    assert done.stdout == "Valid replica already elected for partitions a-0\n"


def test_somebody_must_be_asked() -> None:
    done = run("preferred-replica-election")
    assert done == (1, "", "one of --bootstrap-server and --zookeeper must be specified\n")
