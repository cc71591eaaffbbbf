"""Run the command that stands for a Java class of Kafka."""

from importlib import import_module

import pytest

from moldau.cli.run_class import CLASSES
from unit.cli.command import run


def test_a_class_is_run_as_its_command(bootstrap: str) -> None:
    run("topics", bootstrap, "--create", "--topic", "t")
    done = run("run-class", "-name", "x", "-loggc", "kafka.tools.GetOffsetShell", bootstrap)
    assert done.stdout == "t:0:0\n"


@pytest.mark.parametrize("command", sorted(set(CLASSES.values())))
def test_every_command_is_there(command: str) -> None:
    assert callable(import_module(f"moldau.cli.{command}").main)


def test_a_class_that_is_not_there_is_named() -> None:
    assert "there is no class com.example.Tool here" in run("run-class", "com.example.Tool").stderr
    assert run("run-class").stderr == "USAGE: kafka-run-class.sh classname [opts]\n"
