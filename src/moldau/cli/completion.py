"""Print a script by which a shell completes commands: eval "$(moldau completion bash)"."""

import shlex
from collections.abc import Iterator, Sequence
from importlib import import_module

from moldau.cli.main import commands
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Option, Options

_BASH = """\
_moldau() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}}
    local program=${{COMP_WORDS[0]##*/}}
    case $program in
{scripts}
    *) if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "{names}" -- "$word"))
        return
    fi ;;
    esac
    case $command in
{cases}
    esac
}}
complete -o default -F _moldau moldau {programs}
"""
_SHELLS = ("bash", "fish", "zsh")
# Commands that Apache has no script for.
_OURS = (
    *("backup", "cat", "certificates", "completion", "console", "doctor", "health"),
    *("ingest", "init", "rebalance", "registry", "restore", "serve", "sql", "streams", "users"),
    *("tree", "zookeeper", "zookeeper-shell"),
    *("connect", "connect-distributed", "connect-standalone"),
)
_NAMED_OTHERWISE = {
    "connect-distributed.sh": "connect-distributed",
    "connect-standalone.sh": "connect-standalone",
    "kafka-server-start.sh": "serve",
    "zkCli.sh": "zookeeper-shell",
    "zookeeper-server-start.sh": "zookeeper",
    "zookeeper-server-stop.sh": "zookeeper-server-stop",
    "zookeeper-shell.sh": "zookeeper-shell",
}


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    usage = f"usage: moldau completion {'|'.join(_SHELLS)}"
    if len(arguments) != 1 or arguments[0] not in (*_SHELLS, "-h", "--help"):
        raise CommandFailed(usage)
    if arguments[0] not in _SHELLS:
        print(f"{usage}\n\n{__doc__}")
        return 0
    if arguments[0] == "fish":
        print("\n".join(fish_lines()))
        return 0
    if arguments[0] == "zsh":
        print("autoload -U +X bashcompinit && bashcompinit")
    print(bash_script(), end="")
    return 0


def scripts() -> dict[str, str]:
    """The command of each of Apache's scripts."""
    found = {f"kafka-{name}.sh": name for name in commands() if name not in _OURS}
    del found["kafka-zookeeper-server-stop.sh"]
    return found | _NAMED_OTHERWISE


def bash_script() -> str:
    """Names of commands, and the options of each."""
    cases = [
        f'    {name}) COMPREPLY=($(compgen -W "{_words(options)}" -- "$word")) ;;'
        for name, options in _options().items()
    ]
    programs = scripts()
    return _BASH.format(
        names=" ".join(commands()),
        cases="\n".join(cases),
        scripts="\n".join(f"    {each}) command={name} ;;" for each, name in programs.items()),
        programs=" ".join(programs),
    )


def fish_lines() -> Iterator[str]:
    """The same for fish, which shows what options are for."""
    yield f"complete -c moldau -n __fish_use_subcommand -f -a {shlex.quote(' '.join(commands()))}"
    options = _options()
    for name, found in options.items():
        for each in found:
            seen = shlex.quote(f"__fish_seen_subcommand_from {name}")
            yield f"complete -c moldau -n {seen} {_fish_option(each)}"
    for script, name in scripts().items():
        for each in options.get(name, ()):
            yield f"complete -c {script} {_fish_option(each)}"


def _fish_option(option: Option) -> str:
    argument = " -r" if option.argument and not option.is_argument_optional else ""
    return f"-l {option.name}{argument} -d {shlex.quote(option.help)}"


def _options() -> dict[str, Sequence[Option]]:
    found: dict[str, Sequence[Option]] = {}
    for name in commands():
        options = getattr(import_module(f"moldau.cli.{name.replace('-', '_')}"), "OPTIONS", None)
        if isinstance(options, Options):
            found[name] = options.options
    return found


def _words(options: Sequence[Option]) -> str:
    return " ".join(f"--{option.name}" for option in options)
