"""The `moldau` command: finds the module of a subcommand and runs it."""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

import moldau
from moldau.cli.main import commands, main, run
from moldau.cli.terminal.failure import CommandEnded, CommandFailed
from moldau.errors import ErrorCode, KafkaError


def test_without_a_command_every_command_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    printed = capsys.readouterr().out
    assert all(f"  {name} " in printed for name in commands())
    assert "serve                        Start a broker" in printed
    assert main(["--help"]) == 0


def test_commands_are_listed_by_what_they_are_for(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    groups = {}
    for group in capsys.readouterr().out.split("\n\n")[1:-1]:
        title, *lines = group.splitlines()
        groups[title] = [line.split()[0] for line in lines]
    assert groups["servers:"][0] == "serve"
    assert "doctor" in groups["operation:"]
    assert "topics" in groups["Kafka's tools, also by their own names:"]
    listed = [name for names in groups.values() for name in names]
    assert sorted(listed) == sorted(commands())


def test_an_unknown_command_is_refused_with_what_may_be_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["sreve"]) == 2
    assert "no command 'sreve'; did you mean serve" in capsys.readouterr().err
    assert main(["qqq"]) == 2
    assert "no command 'qqq'; moldau --help lists all" in capsys.readouterr().err


def test_a_command_gets_its_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--help"])
    assert ended.value.code == 0
    assert "usage: moldau serve" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("name", commands())
def test_every_command_says_how_it_is_used(
    name: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = main([name, option])
    except SystemExit as ended:  # argparse
        code = ended.code
    printed = capsys.readouterr()
    assert (code, printed.err) == (0, "")
    assert printed.out.startswith(f"usage: moldau {name} ")


def parsers_of(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser and those of its subcommands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from parsers_of(each)


@pytest.mark.parametrize("name", commands())
def test_every_argument_says_what_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    silent: list[str] = []

    def look(parser: argparse.ArgumentParser, file: object = None) -> None:
        for each in parsers_of(parser):
            silent.extend(
                f"{each.prog} {action.dest}" for action in each._actions if unsaid(action)
            )

    def unsaid(action: argparse.Action) -> bool:
        return not action.help and not isinstance(action, argparse._SubParsersAction)

    monkeypatch.setattr(argparse.ArgumentParser, "print_help", look)
    with suppress(SystemExit):
        main([name, "--help"])
    assert silent == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("cluster", "cluster-id|unregister"),
        ("doctor", "[FILE]"),
        ("init", "[KIND...]"),
        ("streams", "run|describe|reset APP.py"),
        ("transactions", "list|describe|describe-producers|abort|find-hanging"),
        ("zookeeper-shell", "[SERVERS] [COMMAND...]"),
    ],
)
def test_usage_shows_what_stands_beside_options(
    name: str, arguments: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: moldau {name} {arguments} [options]\n")


SUBCOMMANDS = {"users": ["users", "add"]}
LOGINS = ("command-config", "producer.config", "consumer.config", "admin.config")


@pytest.mark.parametrize("name", [each for each in commands() if each != "completion"])
def test_who_asks_a_broker_can_be_told_how_to_log_in(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with suppress(SystemExit):
        main([*SUBCOMMANDS.get(name, [name]), "--help"])
    text = capsys.readouterr().out
    if "--bootstrap-server" in text:
        assert any(option in text for option in LOGINS)


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("moldau")


def ends(how: BaseException) -> int:
    def command(arguments: Sequence[str]) -> int:
        raise how

    return run(command, [])


def test_what_ends_a_command_becomes_one_line_and_a_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(len, ["a", "b"]) == 2
    assert ends(CommandEnded(0)) == 0
    assert ends(CommandFailed("no", code=3)) == 3
    assert ends(KafkaError(ErrorCode.NOT_CONTROLLER, "who?")) == 1
    assert ends(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "no\nError: who?\n"


def test_an_end_without_a_message_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends(CommandFailed("")) == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("arguments", ["--help", "topics --help"])
def test_a_closed_pipe_is_no_failure(arguments: str) -> None:
    sources = str(Path(moldau.__file__).parents[1])
    line = f"PYTHONPATH={sources} {sys.executable} -m moldau {arguments} | true"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_apaches_names_are_understood(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zkCli.sh", "--version"]) == 0
    assert main(["kafka-topics.sh", "--version"]) == 0
    assert capsys.readouterr().out.startswith("3.9.1 ")


QUICK = (
    ("topics", "--list"),
    ("topics", "--describe"),
    ("get-offsets", "--exclude-internal-topics"),
    ("consumer-groups", "--list"),
)


@pytest.mark.parametrize("command", QUICK, ids=" ".join)
def test_an_answer_loads_only_what_it_is_about(command: Sequence[str], bootstrap: str) -> None:
    unneeded = (
        "moldau.client.admin.acls",
        "moldau.client.admin.tokens",
        "moldau.client.admin.transactions",
        "moldau.client.admin.users",
        "moldau.client.connection.authentication",
        "moldau.client.producer.producer",
        "moldau.client.consumer.consumer",
        "moldau.security.scram",
        "moldau.security.tls",
        "argparse",
        "kazoo",
    )
    run_it = f"from moldau.cli.main import main; main({[*command, bootstrap]!r})"
    code = f"import sys; {run_it}; print([m for m in {unneeded!r} if m in sys.modules])"
    assert loaded_by(code) == "[]"


def loaded_by(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(Path(moldau.__file__).parents[1])}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_a_command_loads_neither_the_broker_nor_what_it_does_not_need() -> None:
    heavy = ("pyarrow", "pyspark", "kazoo", "cython", "moldau.broker", "moldau.log")
    code = (
        "import sys; from moldau.cli.main import main; main(['topics', '--version']); "
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    assert loaded_by(code) == "[]"
