"""Options as Apache's tools take them."""

import pytest

from moldau.cli.terminal.failure import CommandEnded, CommandFailed
from moldau.cli.terminal.options import FORMAT, Given, Option, Options, warn

OPTIONS = Options(
    "sample",
    "Does nothing.",
    Option("topic", "Which topic.", "TOPIC"),
    Option("time", "When.", "TIME"),
    Option("count", "How many.", "COUNT", kind=int),
    Option("state", "Whether with states.", "STATES", is_argument_optional=True),
    Option("list", "List " + "very long " * 20 + "indeed."),
    FORMAT,
)


def fails(*arguments: str) -> str:
    with pytest.raises(CommandFailed) as failed:
        OPTIONS.parse(arguments)
    return str(failed.value)


@pytest.mark.parametrize(
    "arguments",
    [("--topic", "a"), ("--topic=a",), ("-topic", "a"), ("-topic=a",)],
)
def test_an_option_may_be_written_in_several_ways(arguments: tuple[str, ...]) -> None:
    assert OPTIONS.parse(arguments).text("topic") == "a"


@pytest.mark.parametrize("arguments", [("--to", "a"), ("--to=a",)])
def test_an_option_is_abbreviated_only_where_apaches_tool_takes_it(
    arguments: tuple[str, ...],
) -> None:
    assert fails(*arguments) == "to is not a recognized option"
    lenient = Options("sample", "", *OPTIONS.options[:-2], takes_abbreviations=True)
    assert lenient.parse(arguments).text("topic") == "a"
    with pytest.raises(CommandFailed, match="t is not a recognized option"):
        lenient.parse(["--t", "a"])


def test_a_negative_number_is_an_argument() -> None:
    given = OPTIONS.parse(["--time", "-1", "--count", "-2"])
    assert (given.text("time"), given.number("count")) == ("-1", -2)


def test_arguments_that_are_no_options_are_kept() -> None:
    assert OPTIONS.parse(["a", "--list", "-", "--", "--topic"]).rest == ["a", "-", "--topic"]


def test_an_optional_argument_may_be_left_out() -> None:
    for arguments in (["--state", "--list"], ["--state"]):
        given = OPTIONS.parse(arguments)
        assert "state" in given
        assert given.text("state", "all") == "all"
    assert OPTIONS.parse(["--state", "Empty"]).text("state") == "Empty"


def test_wrong_options_are_named_as_apache_names_them() -> None:
    assert fails("--bogus") == "bogus is not a recognized option"
    assert fails("--t", "a") == "t is not a recognized option"
    assert fails("--topic") == "Option topic requires an argument"
    assert fails("--count", "x") == "Cannot parse argument 'x' of option count"
    assert fails("--list=a") == "Option list takes no argument"


def test_an_option_that_comes_once_may_not_come_twice() -> None:
    given = OPTIONS.parse(["--topic", "a", "--topic", "b"])
    assert given.texts("topic") == ["a", "b"]
    with pytest.raises(CommandFailed, match="Found multiple arguments for option topic"):
        given.text("topic")


def test_options_that_must_be_and_options_that_exclude_each_other() -> None:
    given = OPTIONS.parse(["--list", "--topic", "a"])
    with pytest.raises(CommandFailed, match=r'Missing required argument "\[count\]"'):
        given.require("topic", "count")
    with pytest.raises(CommandFailed, match=r'"\[list\]" can\'t be used with option "\[topic\]"'):
        given.refuse("list", "count", "topic")
    given.refuse("count", "topic")


def test_the_format_is_text_or_json() -> None:
    assert OPTIONS.parse(["--format", "json"]).is_json
    assert not Given().is_json
    with pytest.raises(CommandFailed, match="text or json, not xml"):
        _ = OPTIONS.parse(["--format", "xml"]).is_json


def test_help_lists_every_option_in_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandEnded):
        OPTIONS.parse(["--help"])
    printed = capsys.readouterr().out
    assert all(f"--{option.name}" in printed for option in OPTIONS.options)
    assert "--state [STATES]" in printed
    assert max(map(len, printed.splitlines())) <= 100


def test_help_shows_an_option_of_one_letter_as_it_is_typed() -> None:
    options = Options("x", "", Option("e", "One statement.", "SQL", aliases=("execute",)))
    assert "  -e, --execute SQL  " in options.help_text()


def test_the_version_begins_with_kafkas(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandEnded):
        OPTIONS.parse(["--version"])
    assert capsys.readouterr().out.startswith("3.9.1 (Moldau:")


def test_warnings_go_beside_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    warn("careful")
    assert capsys.readouterr() == ("", "careful\n")
