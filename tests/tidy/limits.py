"""Sizes that a reader can hold: lines, columns, parameters."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tidy.sources import Violation, code_files, parse, place

FUNCTION_LINES_MAX = 50
MODULE_LINES_MAX = 400
PARAMETERS_MAX = 5
COLUMNS_MAX = 100

Function = ast.FunctionDef | ast.AsyncFunctionDef


def module_lines(root: Path) -> Iterator[Violation]:
    for path in code_files(root, ".py"):
        count = len(path.read_text(encoding="utf-8").splitlines())
        if count > MODULE_LINES_MAX:
            yield Violation(place(root, path), "module_lines", f"{count} lines")


def columns(root: Path) -> Iterator[Violation]:
    for path in code_files(root, ".py", ".c", ".sh"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > COLUMNS_MAX:
                detail = f"line {number} has {len(line)} columns"
                yield Violation(place(root, path), "columns", detail)


def function_lines(root: Path) -> Iterator[Violation]:
    """A docstring does not count: it should not be cut to fit."""
    for path in code_files(root, ".py"):
        for name, function in functions(parse(path)):
            assert function.end_lineno is not None
            count = function.end_lineno - function.lineno + 1 - docstring_lines(function)
            if count > FUNCTION_LINES_MAX:
                where = f"{place(root, path)}:{name}"
                yield Violation(where, "function_lines", f"{count} lines")


def parameters(root: Path) -> Iterator[Violation]:
    """Keyword-only ones count too: a caller must know them all. `self` and `cls` do not.

    Tests are free of this one, since pytest's fixtures are parameters.
    """
    for path in code_files(root, ".py"):
        if path.is_relative_to(root / "tests"):
            continue
        for name, function in functions(parse(path)):
            arguments = function.args
            names = [
                *(one.arg for one in (*arguments.posonlyargs, *arguments.args)),
                *(one.arg for one in arguments.kwonlyargs),
                *(one.arg for one in (arguments.vararg, arguments.kwarg) if one is not None),
            ]
            count = len([one for one in names if one not in ("self", "cls")])
            if count > PARAMETERS_MAX:
                where = f"{place(root, path)}:{name}"
                yield Violation(where, "parameters", f"{count} parameters")


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Every function with its qualified name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield prefix + node.name, node
            yield from functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")
        else:
            yield from functions(node, prefix)


def docstring_lines(function: Function) -> int:
    first = function.body[0]
    if ast.get_docstring(function) is None or first.end_lineno is None:
        return 0
    return first.end_lineno - first.lineno + 1
