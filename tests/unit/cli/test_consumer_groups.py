"""List, describe, delete and reset consumer groups; layouts are in the transcripts."""

import socket

import pytest

from unit.cli.command import run


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--list", "--delete"), "exactly one action"),
        (("--describe",), "takes one of these options: [group], [all-groups]"),
        (("--describe", "--group", "g", "--members", "--state"), "takes at most one of these"),
        (("--describe", "--group", "g", "--state", "Empty"), "does not take a value"),
        (("--describe", "--group", "g", "--all-groups"), "can't be used with option"),
        (("--delete",), "[group], [all-groups]"),
        (("--delete-offsets", "--topic", "t"), "[group]"),
        (("--delete-offsets", "--group", "g"), "[group], [topic]"),
        (("--reset-offsets", "--to-latest"), "[group], [all-groups]"),
        (("--reset-offsets", "--group", "g"), "takes exactly one of"),
        (("--reset-offsets", "--group", "g", "--execute", "--dry-run"), "can't be used"),
        (("--list", "--zookeeper", "z:2181"), "use --bootstrap-server"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: tuple[str, ...], reason: str) -> None:
    done = run("consumer-groups", "--bootstrap-server", "127.0.0.1:1", *options)
    assert done.code == 1
    assert reason in done.stderr


def test_brokers_that_cannot_be_reached_are_one_line() -> None:
    done = run("consumer-groups", "--bootstrap-server", "127.0.0.1:1", "--list", "--timeout", "1")
    assert done.code == 1
    assert done.stdout.startswith("\nError: Executing consumer group command failed due to no ")


def test_brokers_that_never_answer_are_given_up_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        options = ("--describe", "--group", "g", "--timeout", "300")
        done = run("consumer-groups", "--bootstrap-server", address, *options)
    assert done.code == 1
    assert "\nError: Executing consumer group command failed due to " in done.stdout
    assert "0.3 s" in done.stdout
