"""Print a script by which a shell completes commands: eval "$(moldau completion bash)"."""

from collections.abc import Sequence
from importlib import import_module

from moldau.cli.main import commands
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Options

_BASH = """\
_moldau() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}}
    local program=${{COMP_WORDS[0]##*/}}
    case $program in
    kafka-*.sh) command=${{program#kafka-}} && command=${{command%.sh}} ;;
    *) if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "{names}" -- "$word"))
        return
    fi ;;
    esac
    case $command in
{cases}
    esac
}}
complete -o default -F _moldau moldau {scripts}
"""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    if list(arguments) not in (["bash"], ["zsh"]):
        raise CommandFailed("usage: moldau completion bash|zsh")
    if arguments[0] == "zsh":
        print("autoload -U +X bashcompinit && bashcompinit")
    print(script(), end="")
    return 0


def script() -> str:
    """Names of commands, and the options of each."""
    cases: list[str] = []
    names = list(commands())
    for name in names:
        options = getattr(import_module(f"moldau.cli.{name.replace('-', '_')}"), "OPTIONS", None)
        if isinstance(options, Options):
            words = " ".join(f"--{option.name}" for option in options.options)
            cases.append(f'    {name}) COMPREPLY=($(compgen -W "{words}" -- "$word")) ;;')
    scripts = " ".join(f"kafka-{name}.sh" for name in names)
    return _BASH.format(names=" ".join(names), cases="\n".join(cases), scripts=scripts)
