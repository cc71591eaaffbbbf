"""Ends of a command that are not its normal end."""

from moldau.cli.terminal.failure import CommandEnded, CommandFailed


def test_a_failure_carries_its_line_and_its_code() -> None:
    assert (str(CommandFailed("no")), CommandFailed("no").code) == ("no", 1)
    assert CommandFailed("no", code=3).code == 3


def test_an_early_end_is_a_success() -> None:
    assert CommandEnded().code == 0
