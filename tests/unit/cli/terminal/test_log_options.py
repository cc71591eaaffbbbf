"""How much a command logs, and in which form."""

import argparse

import pytest

from moldau.cli.terminal import log_options
from moldau.cli.terminal.log_options import add_log_options, start_log


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_log_options(parser)
    return parser.parse_args(arguments)


def test_a_variable_is_the_default_of_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOLDAU_LOG_LEVEL", "DEBUG")
    assert options().log_level == "debug"
    assert options("--log-level", "error").log_level == "error"
    monkeypatch.delenv("MOLDAU_LOG_LEVEL")
    assert options().log_level == "info"


def test_the_log_is_written_as_the_options_say(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[str, str]] = []
    monkeypatch.setattr(log_options, "log_to_stderr", lambda *given: written.append(given))
    start_log(options())
    start_log(options("--log-level", "warning", "--log-format", "json"))
    assert written == [("info", "text"), ("warning", "json")]
