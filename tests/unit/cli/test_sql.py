"""The command takes statements from its line, a file or the keyboard."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

from moldau.cli.sql import OPTIONS, SqlShell, described_proto, main
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.arrow.protobuf_values import Protobuf
from moldau.streams.sql.console import SqlAnswer, SqlConsole
from moldau.streams.sql.statements import BadStatement, WatchQuery

SERVER = ("--bootstrap-server", "localhost:1")


class Streams:
    def __init__(self, failures: Sequence[str] = (), count: int = 0) -> None:
        self._failures = list(failures)
        self.are_there = count > 0

    def failures(self) -> list[str]:
        return self._failures

    def all_ended(self) -> bool:
        return True


class Console:
    """Answers what it was told to, and remembers what it was asked."""

    def __init__(self, streams: Streams | None = None) -> None:
        self.asked: list[str] = []
        self.streams = streams or Streams()

    def run(self, text: str, rows_max: int) -> SqlAnswer:
        self.asked.append(text)
        if text == "bad":
            raise BadStatement("it is bad")
        return SqlAnswer(("a",), [(rows_max,)], is_cut=text == "long")

    def watch(
        self,
        watched: WatchQuery,
        start: str,
        show: Callable[[Sequence[str], list[tuple[object, ...]]], None],
        stop: threading.Event,
    ) -> None:
        assert not stop.is_set()
        show(("a",), [(watched.query,)])
        show(("a",), [(start,)])


def shell(console: Console, *arguments: str, form: str = "csv") -> SqlShell:
    return SqlShell(cast(SqlConsole, console), OPTIONS.parse(arguments), form)


def test_all_statements_are_run_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    assert shell(console, "--rows", "7").execute("one; -- no\n two;long") == 0
    assert console.asked == ["one", "two", "long"]
    printed = capsys.readouterr()
    assert printed.out == "a\n7\n" * 3
    assert printed.err == "these are the first 7 rows: --rows says how many\n"


def test_a_watched_query_has_one_heading(capsys: pytest.CaptureFixture[str]) -> None:
    shell(Console()).execute("select 1 emit changes")
    assert capsys.readouterr().out == "a\nselect 1\nlatest\n"
    shell(Console(), "--from-beginning", form="json").execute("select 1 emit changes")
    assert capsys.readouterr().out == '{"a": "select 1"}\n{"a": "earliest"}\n'


def test_the_first_bad_statement_ends_a_file_but_no_conversation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console = Console()
    with pytest.raises(BadStatement, match="it is bad"):
        shell(console).execute("bad; good")
    assert console.asked == ["bad"]
    lines = iter(["bad; go", "od;", "quit"])
    prompts: list[str] = []

    def ask(prompt: str) -> str | None:
        prompts.append(prompt)
        return next(lines)

    assert shell(console).converse(ask) == 0
    assert console.asked == ["bad", "bad", "go\nod"]
    assert prompts == ["moldau> ", "     -> ", "moldau> "]
    assert "it is bad" in capsys.readouterr().err


def test_ctrl_c_forgets_what_was_begun() -> None:
    typed: list[str | type[KeyboardInterrupt] | None] = ["half", KeyboardInterrupt, "whole;", None]

    def ask(_prompt: str) -> str | None:
        line = typed.pop(0)
        if isinstance(line, type):
            raise line
        return line

    console = Console()
    assert shell(console).converse(ask) == 0
    assert console.asked == ["whole"]


def test_a_stream_that_fails_ends_the_command() -> None:
    assert shell(Console(Streams(count=1))).execute("one") == 0
    with pytest.raises(CommandFailed, match="totals failed: no"):
        shell(Console(Streams(["totals failed: no"], 1))).execute("one")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "bootstrap-server"),
        ([*SERVER, "SELECT 1"], "behind -e"),
        ([*SERVER, "-e", "x", "--output", "xml"], "table, json, csv, not xml"),
        ([*SERVER, "-e", "x", "-f", "y"], "can't be used"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], words: str) -> None:
    with pytest.raises(CommandFailed, match=words):
        main(arguments)


def test_a_file_that_is_not_there_is_told_before_spark_starts(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        main([*SERVER, "-f", str(tmp_path / "none.sql")])


def test_a_proto_becomes_descriptors() -> None:
    text = """syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto";
        message Item { string name = 1; google.protobuf.Timestamp at = 2; }"""
    descriptors, message = described_proto(text)
    assert message == "shop.Item"
    assert Protobuf.of_descriptors(descriptors, message).type.field("name").name == "name"
