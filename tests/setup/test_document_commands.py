"""Every command that the documents show exists, with the options that it is given there."""

import functools
import io
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import pytest

from moldau.cli.main import commands, main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
BLOCK = re.compile(r"^ *```(?:sh)?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"(?:bin/)?(moldau|zkCli\.sh|(?:kafka|zookeeper|connect)-[a-z-]+\.sh)")
OURS = re.compile(r"moldau [a-z]")
OPTION = re.compile(r"--?[A-Za-z][\w.-]*")
# Apache's scripts for tools that stay in Java: MirrorMaker runs on Apache's Connect.
APACHES = {"connect-mirror-maker.sh", "kafka-storage.sh"}
# Taken by the scripts in bin/ themselves, as by Apache's.
BY_SCRIPTS = {"-daemon", "-loggc"}


def shown(text: str) -> Iterator[list[str]]:
    """The commands of a document, as words: lines of its blocks, and code inside of lines."""
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            yield from parts(line.removeprefix("$ "))
    for code in INLINE.findall(FENCED.sub("", text)):
        if code.count(" ") and (OURS.match(code) or NAME.match(code)):
            yield from parts(code.replace("\\|", "/"))


def parts(line: str) -> Iterator[list[str]]:
    """Those of a line that are ours: it may be a pipe, or several commands."""
    lexer = shlex.shlex(line.replace("…", ""), posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in [*lexer, "|"]:
            if not set(word) <= set("|&;<>"):
                words.append(word)
                continue
            if words and NAME.fullmatch(words[0]) and Path(words[0]).name not in APACHES:
                yield words
            words = []
    except ValueError:
        return  # prose with an apostrophe, not a command


@functools.cache
def help_of(*words: str) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed), suppress(SystemExit):
        main([*words, "--help"])
    return printed.getvalue()


def mistakes(words: Sequence[str]) -> Iterator[str]:
    """What is wrong with a command: its name, or one of its options."""
    script, *rest = words
    if rest == []:
        return
    name = rest[0] if script.endswith("moldau") else Path(script).name
    arguments = rest[1:] if script.endswith("moldau") else rest
    if name.startswith("-"):
        return
    if not name.endswith(".sh") and name not in commands():
        yield f"there is no command {name}"
        return
    subcommands = [word for word in arguments[:2] if re.fullmatch("[a-z]+", word)]
    pages = [help_of(name, *subcommands[:depth]) for depth in range(len(subcommands) + 1)]
    there = {option for page in pages for option in OPTION.findall(page)} | BY_SCRIPTS
    if name.startswith("zk"):
        there |= {option[1:] for option in there}  # ZooKeeper's shell has one dash
    for word in arguments:
        given = OPTION.match(word)
        if given and not re.match(r"-\d", word) and given[0] not in there:
            yield f"{name} has no option {given[0]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_of_a_document_can_be_given(page: Path) -> None:
    found = list(shown(page.read_text(encoding="utf-8")))
    assert [each for words in found for each in mistakes(words)] == []


def test_commands_are_found_in_blocks_and_in_lines() -> None:
    text = (
        "Use `moldau doctor --bootstrap-server b:1` and `moldau` alone.\n"
        "```sh\necho a | bin/kafka-topics.sh --list \\\n    --topic b > c && moldau serve  # d\n"
        "docker run x\n```\n"
    )
    assert list(shown(text)) == [
        ["bin/kafka-topics.sh", "--list", "--topic", "b"],
        ["moldau", "serve"],
        ["moldau", "doctor", "--bootstrap-server", "b:1"],
    ]


def test_misspelt_commands_and_options_are_seen() -> None:
    assert [*mistakes(["moldau", "serv"])] == ["there is no command serv"]
    assert [*mistakes(["moldau", "serve", "--prot", "1"])] == ["serve has no option --prot"]
    assert [*mistakes(["moldau", "tree", "dump", "--aut"])] == ["tree has no option --aut"]
    assert [*mistakes(["kafka-topics.sh", "--lits"])] == ["kafka-topics.sh has no option --lits"]
    assert [*mistakes(["moldau", "console", "users", "add", "a", "--users", "f"])] == []
