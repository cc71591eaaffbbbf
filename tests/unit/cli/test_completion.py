"""Print a script by which a shell completes commands."""

import subprocess

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


def test_other_shells() -> None:
    assert run("completion", "zsh").stdout.startswith("autoload")
    assert run("completion", "fish").code == 1
