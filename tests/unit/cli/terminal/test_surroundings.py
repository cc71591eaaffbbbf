"""What this machine is like for a client."""

import pytest

from moldau.cli.terminal import surroundings
from moldau.cli.terminal.surroundings import (
    examine_machine,
    name_resolution,
    open_files,
    resolved,
    versions,
)


def test_versions_of_what_is_installed_are_shown() -> None:
    first = next(versions())
    assert first.text.startswith("moldau ")
    assert "Python 3." in first.text
    assert "confluent-kafka " in first.text


def test_missing_kernels_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "find_spec", lambda _: None)
    assert "C compiler" in list(versions())[-1].advice


def test_a_small_limit_of_open_files_is_found() -> None:
    assert open_files(1024).is_well
    assert not open_files(256).is_well
    assert "ulimit -n" in open_files(256).advice


def test_names_are_resolved_once_each() -> None:
    found = [each.text for each in examine_machine(["127.0.0.1", "127.0.0.1"])]
    assert found.count("127.0.0.1 is an address") == 1


def test_a_name_that_is_unknown_is_found() -> None:
    found = name_resolution("no-such-host.invalid")
    assert not found.is_well
    assert found.text.startswith("no-such-host.invalid cannot be resolved here: ")
    assert "getent hosts no-such-host.invalid" in found.advice


def test_a_slow_name_server_is_found() -> None:
    found = resolved("kafka.example", ["10.0.0.1"], 5.0)
    assert (found.is_well, found.text) == (False, "kafka.example is 10.0.0.1, but that took 5.0 s")
    assert resolved("kafka.example", ["10.0.0.1"], 0.1).is_well
