"""Move partitions to other brokers; layouts are in the transcripts."""

import json
from pathlib import Path

import pytest

from unit.cli.command import run


def plan(directory: Path, text: str) -> str:
    file = directory / "plan.json"
    file.write_text(text)
    return f"--reassignment-json-file={file}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"partitions": []}', "Partition reassignment list cannot be empty"),
        ('{"partitions": [{"topic": "t", "partition": 0}]}', "replicas is missing"),
        (
            '{"partitions": [{"topic": "t", "partition": 0, "replicas": ["a"]}]}',
            "replicas of t-0 are expected to be numbers",
        ),
        (
            '{"partitions": [{"topic": "t", "partition": 0, "replicas": [0], "log_dirs": "a"}]}',
            "log_dirs is missing",
        ),
        (
            '{"partitions": [{"topic": "nope", "partition": 0, "replicas": [0]}]}',
            "Topic nope: ",
        ),
    ],
)
def test_a_plan_that_cannot_be_is_refused(
    bootstrap: str, tmp_path: Path, text: str, reason: str
) -> None:
    done = run("reassign-partitions", bootstrap, "--execute", plan(tmp_path, text))
    assert (done.code, reason in done.stderr) == (1, True)


def test_a_plan_that_was_never_begun_is_told_apart(bootstrap: str, tmp_path: Path) -> None:
    run("topics", bootstrap, "--create", "--topic", "t")
    text = '{"partitions": [{"topic": "t", "partition": 0, "replicas": [0, 1]}]}'
    done = run("reassign-partitions", bootstrap, "--verify", plan(tmp_path, text))
    assert "but replica set is 0 rather than 0,1." in done.stdout
    done = run("reassign-partitions", bootstrap, "--cancel", plan(tmp_path, text))
    assert done.stdout.startswith("None of the specified partition reassignments are active.\n")


def test_a_throttle_is_set_and_told(bootstrap: str, tmp_path: Path) -> None:
    run("topics", bootstrap, "--create", "--topic", "u")
    text = '{"partitions": [{"topic": "u", "partition": 0, "replicas": [0]}]}'
    options = ("--execute", "--throttle", "1000", plan(tmp_path, text))
    done = run("reassign-partitions", bootstrap, *options)
    assert "The inter-broker throttle limit was set to 1000 B/s" in done.stdout


def test_what_must_be_said_is_asked_for(bootstrap: str) -> None:
    assert run("reassign-partitions", "--list").stderr == "Please specify --bootstrap-server\n"


def test_moves_are_listed_in_json_too(bootstrap: str) -> None:
    assert run("reassign-partitions", bootstrap, "--list", "--format", "json").stdout == "[]\n"
    done = run("reassign-partitions", bootstrap, "--generate")
    assert done.stderr == 'Missing required argument "[topics-to-move-json-file]"\n'


def test_directories_of_replicas_are_part_of_a_plan(bootstrap: str, tmp_path: Path) -> None:
    run("topics", bootstrap, "--create", "--topic", "w")
    listed = json.loads(run("log-dirs", bootstrap, "--describe", "--format=json").stdout)
    (directory,) = listed["brokers"][0]["logDirs"]
    entry = {"topic": "w", "partition": 0, "replicas": [0], "log_dirs": [directory["logDir"]]}
    file = plan(tmp_path, json.dumps({"partitions": [entry]}))
    throttle = ("--replica-alter-log-dirs-throttle", "5000")
    done = run("reassign-partitions", bootstrap, "--execute", *throttle, file)
    assert done.code == 0, done.stderr
    assert "The replica-alter-dir throttle limit was set to 5000 B/s\n" in done.stdout
    assert "Successfully started log directory move for: w-0-0\n" in done.stdout
    rate = "replica.alter.log.dirs.io.max.bytes.per.second"
    described = ("configs", bootstrap, "--describe", "--entity-type=brokers", "--entity-name=0")
    assert f"{rate}=5000" in run(*described).stdout
    done = run("reassign-partitions", bootstrap, "--verify", file)
    assert "Reassignment of replica w-0-0 completed successfully.\n" in done.stdout
    assert f"{rate}=5000" not in run(*described).stdout
    done = run("reassign-partitions", bootstrap, "--cancel", file)
    assert "None of the specified partition moves are active.\n" in done.stdout


def test_programs_are_told_of_plans(bootstrap: str, tmp_path: Path) -> None:
    run("topics", bootstrap, "--create", "--topic", "x")
    file = plan(tmp_path, '{"partitions": [{"topic": "x", "partition": 0, "replicas": [0]}]}')
    topics = tmp_path / "topics.json"
    topics.write_text('{"topics": [{"topic": "x"}]}')

    def ask(*options: str) -> dict[str, object]:
        done = run("reassign-partitions", bootstrap, "--format=json", *options)
        assert done.code == 0, done.stderr
        found: dict[str, object] = json.loads(done.stdout)
        return found

    generated = ask(f"--topics-to-move-json-file={topics}", "--broker-list=0", "--generate")
    assert generated["current"] == generated["proposed"]
    assert ask("--execute", file) == generated["current"]
    moved = {"topic": "x", "partition": 0, "state": "completed", "replicas": [0]}
    assert ask("--verify", file) == {"partitions": [moved], "log_dirs": []}
    assert ask("--cancel", file) == {"partitions": [], "log_dirs": []}
    done = run("reassign-partitions", "--zookeeper=z", "--format=json", "--verify", file)
    assert done.stderr == "--format json is not there with --zookeeper\n"
