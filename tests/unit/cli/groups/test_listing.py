"""The groups that there are."""

import json

import pytest

from moldau.cli.groups.listing import STATES, chosen
from moldau.cli.terminal.failure import CommandFailed
from unit.cli.command import run


def test_states_are_known_in_any_case() -> None:
    assert chosen("stable, EMPTY", STATES, "state") == ["Stable", "Empty"]
    assert chosen("", STATES, "state") == []
    with pytest.raises(CommandFailed, match=r"Invalid state list 'x'\. Valid states are: Prep"):
        chosen("x", STATES, "state")


def test_json_lists_groups(bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "t", stdin="x\n")
    reset = ("--reset-offsets", "--group", "g", "--to-latest", "--topic", "t", "--execute")
    run("consumer-groups", bootstrap, *reset)
    done = run("consumer-groups", bootstrap, "--list", "--format", "json")
    assert json.loads(done.stdout) == [{"group": "g", "state": "Empty", "type": "classic"}]
