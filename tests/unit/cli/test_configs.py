"""Show and change settings; layouts are in the transcripts."""

import json

import pytest

from moldau.cli.configs import parse_settings
from moldau.cli.terminal.failure import CommandFailed
from unit.cli.command import run


def test_there_is_no_controller_that_is_no_broker() -> None:
    options = ("--bootstrap-controller", "c:1", "--describe", "--entity-type", "topics")
    for command in ("configs", "acls"):
        done = run(command, *(options if command == "configs" else (*options[:2], "--list")))
        assert (done.code, "use --bootstrap-server" in done.stderr) == (1, True)


def test_commas_within_brackets_belong_to_the_value() -> None:
    assert parse_settings("a=1, b=[x,y],c=") == {"a": "1", "b": "x,y", "c": ""}
    with pytest.raises(CommandFailed, match='"key=val"'):
        parse_settings("a")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--describe", "--topic", "a"), "--bootstrap-server"),
        (("--alter", "--topic", "a", "--bootstrap-server", "b:1"), "At least one of --add-config"),
        (
            ("--alter", "--entity-type", "topics", "--bootstrap-server", "b:1"),
            "An entity name must be specified",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(options: tuple[str, ...], reason: str) -> None:
    done = run("configs", *options)
    assert (done.code, reason in done.stderr) == (1, True)


def test_json_has_values_and_sources(bootstrap: str) -> None:
    run("topics", bootstrap, "--create", "--topic", "a", "--config", "retention.ms=7")
    run("configs", bootstrap, "--alter", "--user", "u", "--add-config", "producer_byte_rate=5")
    done = run("configs", bootstrap, "--describe", "--topic", "a", "--format", "json")
    (topic,) = json.loads(done.stdout)
    assert topic["configs"] == {"retention.ms": {"value": "7", "source": "TOPIC"}}
    done = run("configs", bootstrap, "--describe", "--user", "u", "--format", "json")
    assert json.loads(done.stdout) == [
        {"entity": {"user": "u"}, "quotas": {"producer_byte_rate": 5.0}}
    ]
