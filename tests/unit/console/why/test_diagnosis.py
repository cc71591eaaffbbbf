"""Commands are safe to paste, whatever names are in them."""

import shlex

from moldau.console.why.diagnosis import command, some


def test_names_of_others_are_quoted() -> None:
    hostile = "a'; rm -rf / #$(id)`id`"
    line = command("moldau", "consumer-groups", "--group", hostile)
    assert shlex.split(line) == ["moldau", "consumer-groups", "--group", hostile]


def test_names_that_hide_something_are_in_no_command() -> None:
    for name in ("a\nrm", "a\x1b[2J", "a\u202eb", "a\u200b"):
        assert command("moldau", name) == ""


def test_many_names_are_cut() -> None:
    assert some(["a", "b"]) == "a, b"
    assert some(list("abcdefg")) == "a, b, c, d, e and 2 more"
