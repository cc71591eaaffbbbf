"""Print a script by which a shell completes commands."""

import shlex
import subprocess
from pathlib import Path

from moldau.cli.completion import scripts
from moldau.cli.main import commands
from unit.cli.command import run


def complete(*words: str) -> list[str]:
    typed = " ".join(words)
    script = run("completion", "bash").stdout
    script += f'COMP_WORDS=({typed} "") COMP_CWORD={len(words)}\n_moldau\necho "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_commands_and_their_options_are_completed() -> None:
    assert {"topics", "cat", "serve"} <= set(complete("moldau"))
    assert "--replication-factor" in complete("moldau", "topics")
    assert "--replication-factor" in complete("kafka-topics.sh")


def test_scripts_are_completed_that_there_are() -> None:
    there = {path.name for path in (Path(__file__).parents[3] / "bin").glob("*.sh")}
    assert set(scripts()) == there
    assert set(scripts().values()) <= set(commands())
    assert "--server" in complete("zkCli.sh")
    assert "--zk-tls-config-file" in complete("zookeeper-shell.sh")


def test_other_shells() -> None:
    assert run("completion", "zsh").stdout.startswith("autoload")
    assert run("completion", "csh").stderr == "usage: moldau completion bash|fish|zsh\n"


def test_fish_shows_what_options_are_for() -> None:
    lines = run("completion", "fish").stdout.splitlines()
    seen = "-n '__fish_seen_subcommand_from topics'"
    assert f"complete -c moldau {seen} -l list -d 'Print the names of topics.'" in lines
    assert "complete -c zkCli.sh -l timeout -r -d 'For scripts: how long a session lasts.'" in lines
    assert all(shlex.split(line)[:2] == ["complete", "-c"] for line in lines)
