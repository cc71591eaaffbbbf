"""The `moldau` command: finds the module of a subcommand and runs it.

Every other module in this package is a command of its name; the first line of its
docstring says what it does. Only the module that is asked for is imported.
"""

import ast
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

_HELP = ("-h", "--help", "help")
_VERSION = ("-V", "--version", "version")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `moldau` with these arguments; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in _HELP:
        print(usage())
        return 0 if given else 2
    name, *rest = given
    if name in _VERSION:
        print(version())
        return 0
    if name not in commands():
        known = ", ".join(commands())
        print(f"moldau: there is no command {name!r}; there is: {known}", file=sys.stderr)
        return 2
    code: int = import_module(f"moldau.cli.{name.replace('-', '_')}").main(rest)
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
    lines = ["usage: moldau COMMAND [options]", "", "commands:"]
    lines += [f"  {name:12} {_summary(path)}" for name, path in commands().items()]
    lines += ["", "moldau COMMAND --help says more."]
    return "\n".join(lines)


def version() -> str:
    """The version of the installed package; a clone is not installed."""
    metadata = import_module("importlib.metadata")
    try:
        return f"moldau {metadata.version('moldau')}"
    except metadata.PackageNotFoundError:
        return "moldau, in a clone of its sources"


def _summary(path: Path) -> str:
    documentation = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return documentation.partition("\n")[0].rstrip(".")
