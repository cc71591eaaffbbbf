"""Move partitions to other brokers; layouts are in the transcripts."""

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
