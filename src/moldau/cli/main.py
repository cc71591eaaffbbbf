"""The `moldau` command: finds the module of a subcommand and runs it.

Every other module in this package is a command of its name; the first line of its
docstring says what it does. Only the module that is asked for is imported. Apache's names
for the same, `kafka-topics.sh` for `topics`, are understood as well.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from moldau.cli.terminal.failure import CommandEnded, CommandFailed
from moldau.errors import KafkaError

_HELP = ("-h", "--help", "help")
_VERSION = ("-V", "--version", "version")
# Scripts of Kafka and ZooKeeper whose commands have names of their own here.
_SCRIPTS = {
    "server-start": "serve",
    "zookeeper-server-start": "zookeeper",
    "zkCli": "zookeeper-shell",
}
_INTERRUPTED = 130  # as shells say it of a program that Ctrl-C ended
_SERVERS = (
    *("serve", "connect", "connect-distributed", "connect-standalone"),
    *("console", "registry", "zookeeper"),
)
_DATA = ("cat", "ingest", "sql", "streams")
_KAFKAS = ".sh)"  # how the summary of a command ends that Apache has a script for


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `moldau` with these arguments; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in _HELP:
        return run(_print_usage, given)
    name, *rest = given
    if name in _VERSION:
        print(version())
        return 0
    name = name.removeprefix("kafka-").removesuffix(".sh")
    name = _SCRIPTS.get(name, name)
    if name not in commands():
        print(f"moldau: there is no command {name!r}; {_others(name)}", file=sys.stderr)
        return 2
    command: Callable[[Sequence[str]], int]
    command = import_module(f"moldau.cli.{name.replace('-', '_')}").main
    return run(command, rest)


def script() -> int:
    """Run the command that a script of Kafka's name, made by pip, is called after."""
    return main([Path(sys.argv[0]).name, *sys.argv[1:]])


def run(command: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    """Run a command; what ends it early becomes one line and an exit code."""
    try:
        code = command(arguments)
        sys.stdout.flush()
    except CommandEnded as ended:
        return ended.code
    except CommandFailed as failed:
        return _fail(str(failed), failed.code)
    except KafkaError as error:
        return _fail(f"Error: {error}", 1)
    except BrokenPipeError:
        # The reader has enough, as in `| head`.
        _forget_output()
        return 0
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        return _fail(f"Error: {named}{error.strerror or error}", 1)
    except ValueError as error:
        return _fail(f"Error: {error}", 1)
    except KeyboardInterrupt:
        return _INTERRUPTED
    return code


def commands() -> dict[str, Path]:
    """The source of every command by its name."""
    found = sorted(Path(__file__).parent.glob("*.py"))
    return {
        path.stem.replace("_", "-"): path
        for path in found
        if path.stem != "main" and not path.stem.startswith("_")
    }


def usage() -> str:
    """What the user sees without a command."""
    found = {name: summary(path) for name, path in commands().items()}
    tools = [name for name, text in found.items() if text.endswith(_KAFKAS)]
    groups = {
        "servers": [name for name in _SERVERS if name in found],
        "records": [name for name in _DATA if name in found],
        "operation": [name for name in found if name not in (*_SERVERS, *_DATA, *tools)],
        "Kafka's tools, also by their own names": tools,
    }
    lines = ["usage: moldau COMMAND [options]"]
    for title, names in groups.items():
        lines += ["", f"{title}:", *(f"  {name:28} {found[name]}" for name in names)]
    lines += ["", "moldau COMMAND --help says more. To begin: moldau serve"]
    return "\n".join(lines)


def _print_usage(arguments: Sequence[str]) -> int:
    print(usage())
    return 0 if arguments else 2


def _others(name: str) -> str:
    """What may have been meant by a command that does not exist."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it

    near = get_close_matches(name, commands(), n=3)
    return f"did you mean {' or '.join(near)}?" if near else "moldau --help lists all"


def version() -> str:
    """The version of the installed package; a clone is not installed."""
    metadata = import_module("importlib.metadata")
    try:
        return f"moldau {metadata.version('moldau')}"
    except metadata.PackageNotFoundError:
        return "moldau, in a clone of its sources"


def summary(path: Path) -> str:
    """The first line of a command's documentation."""
    import ast  # noqa: PLC0415 - takes longer than most of what starts here

    documentation = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return documentation.partition("\n")[0].rstrip(".")


def _forget_output() -> None:
    """What is still to be written goes nowhere: Python flushes once more when it ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> int:
    try:
        sys.stdout.flush()
    except OSError:
        _forget_output()
    if message:
        print(message, file=sys.stderr)
    return code
