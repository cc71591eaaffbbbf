"""Elect leaders of partitions; layouts are in the transcripts."""

import json
from pathlib import Path

from unit.cli.command import run


def test_a_type_that_is_none_is_refused(bootstrap: str) -> None:
    done = run("leader-election", bootstrap, "--election-type", "quick")
    assert done.stderr == "--election-type is preferred or unclean, not quick\n"


def test_what_became_of_each_is_told_in_json_too(bootstrap: str) -> None:
    run("topics", bootstrap, "--create", "--topic", "led")
    options = ("--election-type", "preferred", "--format", "json", "--partition", "0", "--topic")
    done = run("leader-election", bootstrap, *options, "led")
    (led,) = json.loads(done.stdout)
    expected = {"topic": "led", "partition": 0, "is_elected": False, "error": "ELECTION_NOT_NEEDED"}
    assert (done.code, led) == (0, expected)
    assert run("leader-election", bootstrap, *options, "nope").code == 1


def test_a_partition_may_not_stand_twice(bootstrap: str, tmp_path: Path) -> None:
    file = tmp_path / "election.json"
    one = '{"topic": "a", "partition": 0}'
    file.write_text(f'{{"partitions": [{one}, {one}]}}')
    options = ("--election-type", "preferred", "--path-to-json-file", str(file))
    assert "duplicate partitions: a-0" in run("leader-election", bootstrap, *options).stderr
