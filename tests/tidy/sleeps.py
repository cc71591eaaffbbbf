"""Tests do not sleep: a wait that is long enough for every machine wastes time on all others."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tidy.sources import Violation, code_files, parse, place

FOLDERS = ("tests/unit/", "tests/simulation/")
# There asyncio's time is simulated, and a sleep takes no time.
SIMULATED = ("tests/simulation/", "tests/unit/testing/world/")
SLEEPS = ("time.sleep", "asyncio.sleep")


def no_sleeps(root: Path) -> Iterator[Violation]:
    """No test waits for a time; a turn of the loop, `asyncio.sleep(0)`, is none."""
    for path in code_files(root, ".py"):
        where = place(root, path)
        if where.startswith(FOLDERS):
            for line, name in sleeps_in(parse(path)):
                if not (name == "asyncio.sleep" and where.startswith(SIMULATED)):
                    detail = f"line {line} calls {name}: see tests/unit/waiting.py"
                    yield Violation(where, "no_sleeps", detail)


def sleeps_in(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Where it sleeps, and how, by whatever name."""
    names = {name: name for name in SLEEPS}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                names[f"{alias.asname or alias.name}.sleep"] = f"{alias.name}.sleep"
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            name = names.get(ast.unparse(node.func), "")
            if name in SLEEPS and not is_turn(node):
                yield node.lineno, name


def is_turn(call: ast.Call) -> bool:
    seconds = call.args[0] if call.args else None
    return isinstance(seconds, ast.Constant) and seconds.value == 0
