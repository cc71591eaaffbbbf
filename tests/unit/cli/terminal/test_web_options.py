"""Commands that serve HTTP have the same options, and say what is wrong with them."""

import argparse
from pathlib import Path

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.web_options import add_web_options, binding_of, users_of


def given(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_web_options(parser, 8081)
    return parser.parse_args(arguments)


def test_without_options_it_is_this_machine_alone() -> None:
    binding = binding_of(given())
    assert (binding.host, binding.port, binding.is_loopback) == ("localhost", 8081, True)
    assert users_of(given()) is None


def test_options_are_heeded(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text("anna: secret\n")
    options = given(
        *("--host", "0.0.0.0", "--port", "1", "--tls-certificate", "c", "--tls-key", "k"),
        *("--users", str(users)),
    )
    binding = binding_of(options)
    assert (binding.certificate, binding.key, binding.is_loopback) == ("c", "k", False)
    assert users_of(options) is not None


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="65536"):
        binding_of(given("--port", "65536"))
    with pytest.raises(CommandFailed, match="none"):
        users_of(given("--users", "/none"))
    broken = tmp_path / "users"
    broken.write_text("secret-without-a-name\n")
    with pytest.raises(CommandFailed, match="line 1") as refused:
        users_of(given("--users", str(broken)))
    assert "secret-without" not in str(refused.value)
