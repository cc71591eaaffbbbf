"""The `moldau` command: finds the module of a subcommand and runs it."""

import pytest

from moldau.cli.main import commands, main


def test_without_a_command_every_command_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    printed = capsys.readouterr().out
    assert all(f"  {name} " in printed for name in commands())
    assert "serve        Start a broker" in printed
    assert main(["--help"]) == 0


def test_an_unknown_command_is_refused_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["sreve"]) == 2
    assert "no command 'sreve'; there is: " in capsys.readouterr().err


def test_a_command_gets_its_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--help"])
    assert ended.value.code == 0
    assert "usage: moldau serve" in capsys.readouterr().out


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("moldau")
